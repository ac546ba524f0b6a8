// What the command line asks for, as steps one after the other. A step that fails takes no other
// with it.
#pragma once

#include "harness/options.hpp"
#include "harness/results.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace walrelay::bench {

struct step {
    std::string name;
    /// Roughly, on two cores.
    std::chrono::seconds takes;
    /// Throws std::runtime_error.
    std::function<void(results&)> measure;
};

[[nodiscard]] std::vector<step> steps_of(const options& chosen);

}  // namespace walrelay::bench
