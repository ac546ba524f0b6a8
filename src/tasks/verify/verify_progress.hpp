// Says how far a comparison has come, on standard error: one line that is written over on a
// terminal, else a line every few seconds where it is asked for.
#pragma once

#include <chrono>
#include <cstdint>

namespace walrelay::tasks {

class verify_progress {
public:
    /// Silent unless `asked` or standard error is a terminal.
    explicit verify_progress(bool asked);
    /// Takes the line away from the terminal.
    ~verify_progress();
    verify_progress(const verify_progress&) = delete;
    verify_progress& operator=(const verify_progress&) = delete;

    /// Of the rows it is the server's estimate.
    void expect(std::uint64_t rows, std::uint64_t messages);
    /// Cheap: to be called for every batch.
    void tell(std::uint64_t rows, std::uint64_t messages);

private:
    using clock = std::chrono::steady_clock;

    bool on_terminal_;
    bool shown_;
    bool is_written_ = false;
    std::uint64_t expected_ = 0;
    clock::time_point begun_ = clock::now();
    clock::time_point told_at_ = begun_;
};

}  // namespace walrelay::tasks
