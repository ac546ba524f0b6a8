// Which messages of a batch may delete their rows: asks the stream for what stands around them and
// audit/provenance for the rule.
#pragma once

#include "audit/provenance.hpp"
#include "core/error.hpp"
#include "nats/requests/cleanup_cursor.hpp"
#include "tasks/cleanup/row_rules.hpp"

#include <string>
#include <vector>

namespace walrelay::tasks {

enum class provenance {
    own,
    not_yet,
    stranger,
    /// walrelay's own, and of a time when its id may have been another row's (row_rules).
    of_other_rules,
};

struct judged_message {
    provenance what = provenance::own;
    /// Of a stranger's: what is wrong with it.
    std::string why = {};
};

/// One for each message. Blocks. Errors: those of the cursor.
[[nodiscard]] result<std::vector<judged_message>> judge(
    nats::cleanup_cursor& cursor, const std::vector<nats::passed_message>& messages,
    const audit::known_history& known, const row_rules& rules);

}  // namespace walrelay::tasks
