// What stands in the way of relaying: the two servers' facts against what is asked for. Pure.
//
// A finding says what is, and the exact command that mends it. The same findings are printed by
// `walrelay check` and stop `walrelay run`.
#pragma once

#include "core/facts.hpp"
#include "core/outbox_table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {

enum class finding_severity {
    /// Not there yet, and `walrelay init` or `walrelay run` makes it.
    note,
    /// Works, but an operator should know.
    warning,
    /// Nothing can be relayed like this.
    error,
};

struct finding {
    finding_severity severity = finding_severity::error;
    std::string what;
    std::string remedy;
};

/// What the configuration asks of the servers.
struct expectations {
    std::string slot;
    std::string publication;
    std::optional<output_plugin> plugin;  // nothing is auto
    std::string stream;
    std::vector<outbox_table> tables;
};

/// The plugin to stream with: the one asked for, else the slot's, else wal2json where the server
/// accepts it, else pgoutput.
[[nodiscard]] output_plugin choose_plugin(const expectations& wanted, const postgres_facts& facts);

/// `earlier_run` says how it is known that walrelay has run before on this stream; nothing if it is
/// not known to have. A slot that is missing then is a gap, not a first start.
[[nodiscard]] std::vector<finding> postgres_findings(const expectations& wanted,
                                                     const postgres_facts& facts,
                                                     const std::optional<std::string>& earlier_run);

/// Whether the stream shows an earlier run: what `postgres_findings` wants to know.
[[nodiscard]] std::optional<std::string> earlier_run_of(const std::optional<stream_facts>& stream);

[[nodiscard]] std::vector<finding> broker_findings(const expectations& wanted,
                                                   const broker_facts& facts);

/// Whether nothing in the list is an error.
[[nodiscard]] bool can_start(const std::vector<finding>& findings);

/// Whether every subject that `pattern` stands for is captured by `filter`. Both use NATS's
/// wildcards (NATS documentation, "Subject-Based Messaging").
[[nodiscard]] bool subject_covers(std::string_view filter, std::string_view pattern);

}  // namespace walrelay::relay
