// File, environment and flags become settings, or a list of everything that is wrong with them.
//
// Later sources win: defaults, then the file, then WALRELAY_<SECTION>_<KEY>, then flags.
#pragma once

#include "config/nats_context.hpp"
#include "config/problem.hpp"
#include "config/settings.hpp"

#include <boost/system/result.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::config {

/// Values given on the command line, by `section.key` (`postgres.conninfo`, `outbox.table`, ...).
/// config/keys says which keys have a flag and its name.
using flag_values = std::map<std::string, std::string>;
/// The environment, only what begins with WALRELAY_.
using environment = std::map<std::string, std::string>;

/// Finds and reads the file of a context of the nats command. The error says what keeps it from
/// being read, with the path.
using context_reader = std::function<read_result<context_file>(const std::string& name)>;

struct sources {
    /// Text of the configuration file and its name for messages; nothing where there is no file.
    std::optional<std::string> file_text;
    std::string file_name;
    environment variables;
    flag_values flags;
    /// NATS_URL, which other programs read too: used where no other source names servers.
    std::optional<std::string> nats_url = {};
    /// Asked for the context that nats.context names, whose values count where no other source of
    /// walrelay's own has one; before NATS_URL.
    context_reader read_context = {};
};

/// All problems at once, in the order of the sources. Touches no server, and no file but through
/// `read_context`.
[[nodiscard]] boost::system::result<settings, std::vector<problem>> load(const sources& from);

}  // namespace walrelay::config
