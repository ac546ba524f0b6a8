#include "servers/unfinished_search.hpp"

#include "log/log.hpp"

#include <utility>

namespace walrelay::servers {

unfinished_search::unfinished_search(std::stop_token given_up, std::string stream)
    : given_up_(std::move(given_up)), stream_(std::move(stream)) {}

unfinished_search::~unfinished_search() {
    if (given_up_.stop_requested()) {
        log<"search_unfinished">(
            "the search of stream " + stream_ +
                " for rows that it lacks was not finished; the next start searches it again",
            with<"stream">(stream_));
    }
}

error search_given_up(const std::string& stream) {
    return {errc::postgres_lost, "the search of stream " + stream + " was given up"};
}

}  // namespace walrelay::servers
