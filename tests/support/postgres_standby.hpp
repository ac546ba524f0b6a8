// A streaming standby of a server of the test's own: a base backup that follows until it is
// promoted.
#pragma once

#include "support/postgres_instance.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace walrelay::test {

struct standby_options {
    /// Of the primary's version; empty stands for postgres_binary_folder().
    std::filesystem::path binaries = {};
    /// Lines for postgresql.conf, after the primary's own and so stronger than they are.
    std::vector<std::string> settings = {};
    /// A physical slot of the primary for primary_slot_name; made there if it is missing. Empty:
    /// without a slot.
    std::string slot = {};
    /// What the primary knows it by, in synchronous_standby_names.
    std::string name = "standby";
    /// Takes queries before it is promoted.
    bool hot_standby = true;
};

/// Running, as a standby, once constructed. Throws std::runtime_error.
class postgres_standby : public postgres_instance {
public:
    /// `primary` is the conninfo of a superuser; its dbname goes into primary_conninfo, where the
    /// synchronization of slots looks for it.
    explicit postgres_standby(const std::string& primary, const standby_options& options = {});

    /// Ends recovery; returns once the server takes writes, on its new timeline.
    void promote();

    /// Waits until it has replayed all that `primary` has flushed by now; throws after 30 seconds.
    /// Needs hot_standby.
    void catch_up(const postgres_instance& primary) const;
};

}  // namespace walrelay::test
