// A slot that is gone under its own name and waits under another one, in the words of every surface
// that meets it. Text only.
#pragma once

#include "core/error.hpp"

#include <string>

namespace walrelay {

/// What broke off half-way.
enum class slot_wait {
    /// walrelay replay --rewind.
    rewind,
    /// walrelay init --switch-plugin.
    plugin_switch,
};

/// With the command that finishes it.
inline error waits_under_another_name(const std::string& slot, slot_wait what) {
    if (what == slot_wait::rewind) {
        return {errc::postgres_unsuitable,
                "slot " + slot + " waits under another name: a rewind broke off; nothing is lost",
                "walrelay run, which finishes it; where the slot is halted, the same walrelay "
                "replay --rewind with --execute"};
    }
    return {errc::postgres_unsuitable,
            "slot " + slot +
                " waits under another name: a change of its plugin broke off; nothing is lost",
            "walrelay init --switch-plugin, which finishes it"};
}

}  // namespace walrelay
