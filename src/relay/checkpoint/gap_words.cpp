#include "relay/checkpoint/gap_words.hpp"

namespace walrelay::relay {

std::string how_to_close_loss() {
    return std::string(how_to_close_a_gap) +
           "; delivery.confirm_delay keeps the slot back so that such messages are sent again";
}

}  // namespace walrelay::relay
