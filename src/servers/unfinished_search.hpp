// A search of the stream for rows, which can outlast the wish for its answer.
#pragma once

#include "core/error.hpp"

#include <stop_token>
#include <string>

namespace walrelay::servers {

/// Within whoever waits for a search: where he goes away before the answer, because the program
/// stops, the log says so.
class unfinished_search {
public:
    unfinished_search(std::stop_token given_up, std::string stream);
    unfinished_search(const unfinished_search&) = delete;
    unfinished_search& operator=(const unfinished_search&) = delete;
    ~unfinished_search();

private:
    std::stop_token given_up_;
    std::string stream_;
};

/// For the thread that searches.
[[nodiscard]] error search_given_up(const std::string& stream);

}  // namespace walrelay::servers
