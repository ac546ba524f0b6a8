// What is done to a cluster that Patroni keeps while rows are written.
#pragma once

#include "patroni/patroni_trial.hpp"

#include <functional>
#include <string>
#include <vector>

namespace walrelay::patroni {

struct patroni_case {
    std::string name;
    /// For --list.
    std::string what;
    /// When it returns, the cause is gone.
    std::function<void(patroni_trial&)> fire;
    bool without_copies = false;
    /// Patroni makes and copies the slot; from PostgreSQL 17 on the server does.
    bool only_before_17 = false;
};

[[nodiscard]] std::vector<patroni_case> all_cases();

}  // namespace walrelay::patroni
