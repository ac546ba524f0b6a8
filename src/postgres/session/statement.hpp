// One statement with its parameters.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace walrelay::postgres {

struct statement {
    std::string sql;
    /// As text, nothing for NULL.
    std::vector<std::optional<std::string>> parameters = {};
};

}  // namespace walrelay::postgres
