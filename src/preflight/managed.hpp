// How the operator of a database changes the server where a managed service runs it: there is no
// superuser, and ALTER SYSTEM is refused. Sources: docs/managed.md. Pure.
#pragma once

#include "core/facts.hpp"

#include <string>
#include <string_view>

namespace walrelay::preflight {

enum class takes_effect { on_reload, on_restart };

struct setting_change {
    std::string name;
    std::string value;  // as SQL has it
    takes_effect when = takes_effect::on_reload;
};

/// A statement for a server of one's own, else where the service has its switch.
[[nodiscard]] std::string how_to_set(managed_service service, const setting_change& what);

/// wal_level = logical, which services have under names of their own.
[[nodiscard]] std::string how_to_decode(managed_service service);

/// What lets the server load wal2json, as the fix begins: its list of libraries does not name it.
[[nodiscard]] std::string how_to_allow_wal2json(managed_service service);

/// What brings it to a server of this major version; `is_old`: it is there, and too old.
[[nodiscard]] std::string how_to_install_wal2json(managed_service service, int major, bool is_old);

/// What lets the role replicate.
[[nodiscard]] std::string how_to_let_replicate(managed_service service, std::string_view role,
                                               int version_number);

}  // namespace walrelay::preflight
