// One statement with its parameters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::postgres {

struct statement {
    std::string sql;
    /// As text, nothing for NULL.
    std::vector<std::optional<std::string>> parameters = {};
    /// A value that is too large to be copied: of the parameter of that index, whose own is empty.
    /// The text must outlive the statement's run.
    struct lent_value {
        std::size_t index = 0;
        const std::string* text = nullptr;
    };
    std::optional<lent_value> lent = {};
};

}  // namespace walrelay::postgres
