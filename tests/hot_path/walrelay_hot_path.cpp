// The relay machine in full flow for as long as asked, to be looked at from outside (callgrind),
// and to say itself what it took from the heap. What counts happens in walrelay_hot_path_measured.
//
//   walrelay_hot_path EVENTS PLUGIN BODY LANE ROW-BYTES ROWS-PER-TRANSACTION

#include "hot_path/allocations.hpp"
#include "hot_path/hot_path_case.hpp"

#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

using namespace walrelay;

/// Known by this name to `callgrind --toggle-collect`.
extern "C" [[gnu::noinline]] void walrelay_hot_path_measured(test::relay_loop& loop,
                                                             std::span<const std::string> frames);

void walrelay_hot_path_measured(test::relay_loop& loop, std::span<const std::string> frames) {
    loop.run(frames);
}

namespace {

constexpr std::size_t window_messages = 512;
/// Goes round the window until every string in it has had as much memory as it will ever need.
constexpr std::size_t warm_up_events = 5 * window_messages;

void run(std::size_t events, test::hot_path_case what) {
    what.loop.window_messages = window_messages;
    test::event_frames source(what.shape);
    test::relay_loop loop(what.loop);
    loop.run(source.next(warm_up_events));
    const auto frames = source.next(events);
    const auto published_before = loop.published();
    const auto allocated_before = test::allocated_so_far();
    walrelay_hot_path_measured(loop, frames);
    const auto allocated = test::allocated_so_far() - allocated_before;
    loop.finish();
    if (loop.published() - published_before != events || !loop.is_settled()) {
        throw std::logic_error("not every event came to its end");
    }
    std::printf("allocations %llu\nallocated_bytes %llu\n",
                static_cast<unsigned long long>(allocated.count),
                static_cast<unsigned long long>(allocated.bytes));
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        if (words.empty()) {
            throw std::invalid_argument("the number of events is missing");
        }
        run(std::stoul(words.front()), test::parse_case(std::span(words).subspan(1)));
        return 0;
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "walrelay_hot_path: %s\n", failure.what());
        return 1;
    }
}
