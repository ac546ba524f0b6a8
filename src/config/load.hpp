// File, environment and flags become settings, or a list of everything that is wrong with them.
//
// Later sources win: defaults, then the file, then WALRELAY_<SECTION>_<KEY>, then flags.
#pragma once

#include "config/problem.hpp"
#include "config/settings.hpp"

#include <boost/system/result.hpp>

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

struct sources {
    /// Text of the configuration file and its name for messages; nothing where there is no file.
    std::optional<std::string> file_text;
    std::string file_name;
    environment variables;
    flag_values flags;
};

/// All problems at once, in the order of the sources. Never touches a file or a server.
[[nodiscard]] boost::system::result<settings, std::vector<problem>> load(const sources& from);

}  // namespace walrelay::config
