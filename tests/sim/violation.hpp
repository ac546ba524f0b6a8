// What ends a simulation early: a broken invariant. Thrown by the models and the checker, never
// through code of the relay.
#pragma once

#include <stdexcept>
#include <string>

namespace walrelay::sim {

class violation : public std::runtime_error {
public:
    violation(const std::string& invariant, const std::string& what)
        : std::runtime_error(invariant + ": " + what) {}
};

}  // namespace walrelay::sim
