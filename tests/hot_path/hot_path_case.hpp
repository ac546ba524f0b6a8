// What the hot path is measured with: one line of figures.txt, and the arguments that stand for it
// on the command line of walrelay_hot_path.
#pragma once

#include "hot_path/event_frames.hpp"
#include "hot_path/relay_loop.hpp"

#include <span>
#include <string>

namespace walrelay::test {

struct hot_path_case {
    event_shape shape;
    loop_options loop;
};

/// The words are plugin, body, lane, row bytes, rows of a transaction, as in figures.txt. Throws
/// std::invalid_argument, which names the word that means nothing.
[[nodiscard]] hot_path_case parse_case(std::span<const std::string> words);

}  // namespace walrelay::test
