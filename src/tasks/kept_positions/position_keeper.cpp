#include "tasks/kept_positions/position_keeper.hpp"

#include "core/rethrow.hpp"

#include <boost/asio/co_spawn.hpp>

#include <utility>

namespace walrelay::tasks {

void position_keeper::start(std::uint64_t system_identifier, int holder) {
    if (ended_ || round_) {
        return;
    }
    round_ = std::make_shared<keep_round>(io_, settings_, watch_, system_identifier, holder);
    boost::asio::co_spawn(io_, round_->run(), rethrow{});
}

void position_keeper::pause() {
    if (const auto ending = std::exchange(round_, nullptr)) {
        ending->close();
    }
}

void position_keeper::end() {
    ended_ = true;
    pause();
}

}  // namespace walrelay::tasks
