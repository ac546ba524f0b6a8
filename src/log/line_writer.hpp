// Writes lines to a file descriptor on a thread of its own: whoever reads slowly, or not at all,
// holds nobody up.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace walrelay {

class line_writer {
public:
    /// The line that says how many were dropped, with its line feed. From the writer's thread.
    using dropped_line = std::function<std::string(std::uint64_t lines)>;

    /// Keeps as many bytes as `most_bytes`; what comes beyond that is dropped, and counted in a
    /// line of its own once there is room. The descriptor must stay open.
    line_writer(int descriptor, std::size_t most_bytes, dropped_line of_dropped);
    line_writer(const line_writer&) = delete;
    line_writer& operator=(const line_writer&) = delete;
    line_writer(line_writer&&) = delete;
    line_writer& operator=(line_writer&&) = delete;
    /// As `finish`, with the little time that a reader needs who is there.
    ~line_writer();

    /// With its line feed. From any thread.
    void write(std::string line);
    /// Waits until all is written, or as long as this; what is left then is lost. Nothing may be
    /// written any more.
    void finish(std::chrono::milliseconds patience);

private:
    /// Outlives the writer where the thread hangs in a write.
    struct shared {
        shared(int to, dropped_line words) : of_dropped(std::move(words)), descriptor(to) {}
        const dropped_line of_dropped;
        std::mutex guard;
        std::condition_variable changed;
        std::deque<std::string> lines;
        std::size_t bytes = 0;
        std::uint64_t dropped = 0;
        bool ends = false;
        bool ended = false;
        int descriptor;
    };

    static void work(const std::shared_ptr<shared>& with);

    std::size_t most_bytes_;
    std::shared_ptr<shared> shared_;
    std::thread thread_;
};

}  // namespace walrelay
