// Every key of the configuration, once: its name, its kind, what it does, where it goes. The file,
// the environment, the flags, docs/configuration.md, the printed walrelay.toml and the man page all
// follow this table; defaults stand in config/settings and core/outbox_table alone.
#pragma once

#include "config/kinds.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::config {

struct key {
    std::string_view section;
    std::string_view name;  // "slot", "tls.ca"
    std::string_view flag;  // "--slot"; empty if it has none
    kind takes;
    std::string_view documentation;  // a sentence or two in Markdown
    std::string_view example = {};   // in the notation of the file, where there is no default

    /// "nats.tls.ca".
    [[nodiscard]] std::string full_name() const;
    /// "WALRELAY_NATS_TLS_CA".
    [[nodiscard]] std::string variable() const;
    /// "list of strings", "choice of `"text"`, `"json"`", ...: for the documentation.
    [[nodiscard]] std::string kind_in_words() const;
    /// In the notation of the file; empty if there is none.
    [[nodiscard]] std::string default_value() const;
};

/// The sections in the order of the documentation; `outbox` is [[outbox]], which may repeat.
inline constexpr std::array<std::string_view, 8> section_names{
    "postgres", "nats", "delivery", "outbox", "replay", "http", "log", "traces"};

/// "[nats]", "[[outbox]]".
[[nodiscard]] std::string heading_of(std::string_view section);

/// The whole table, section by section.
[[nodiscard]] const std::vector<key>& keys();

/// The key of `section.name`; nullptr if there is none.
[[nodiscard]] const key* find_key(std::string_view full_name);

}  // namespace walrelay::config
