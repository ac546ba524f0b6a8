// Every key of the configuration, once: its name, its kind, what it does, where it goes. The file,
// the environment, the flags and docs/configuration.md all follow this table; defaults stand in
// config/settings and core/outbox_table alone.
#pragma once

#include "config/problem.hpp"
#include "config/settings.hpp"
#include "config/value.hpp"

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::config {

enum class value_kind { text, text_list, boolean, integer, duration, size, choice, table };

/// "list of strings", "byte size", ...: for the documentation.
[[nodiscard]] std::string_view to_string(value_kind kind);

/// Where values go. A key of [[outbox]] goes to `table`, every other one to `all`.
struct destination {
    settings& all;
    outbox_table& table;
};

/// What people read about a key.
struct key_description {
    std::string_view section;
    std::string_view name;           // "slot", "tls.ca"
    std::string_view flag;           // "--slot"; empty if it has none
    std::string_view documentation;  // a sentence or two in Markdown
};

struct key {
    key_description about;
    value_kind kind;
    /// For the documentation: the texts of a choice, in the notation of the file.
    std::vector<std::string> accepted;
    /// Puts a value where it belongs, or says everything that is wrong with it.
    std::function<std::vector<problem>(const value&, const destination&)> store;
    /// The value in the notation of the file; empty where nothing is set.
    std::function<std::string(const destination&)> show;

    /// "nats.tls.ca".
    [[nodiscard]] std::string full_name() const;
    /// "WALRELAY_NATS_TLS_CA".
    [[nodiscard]] std::string variable() const;
};

/// The sections in the order of the documentation; `outbox` is [[outbox]], which may repeat.
inline constexpr std::array<std::string_view, 6> section_names{"postgres", "nats", "delivery",
                                                               "outbox",   "http", "log"};

/// The whole table, section by section.
[[nodiscard]] const std::vector<key>& keys();

/// The key of `section.name`; nullptr if there is none.
[[nodiscard]] const key* find_key(std::string_view full_name);

}  // namespace walrelay::config
