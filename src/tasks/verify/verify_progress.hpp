// Says how far a comparison has come: a line a second on standard error at most.
#pragma once

#include <chrono>
#include <cstdint>

namespace walrelay::tasks {

class verify_progress {
public:
    /// Silent unless `asked` or standard error is a terminal.
    explicit verify_progress(bool asked);

    void expect(std::uint64_t rows, std::uint64_t messages);
    /// Cheap: to be called for every batch.
    void tell(std::uint64_t rows, std::uint64_t messages);

private:
    using clock = std::chrono::steady_clock;

    bool shown_;
    std::uint64_t expected_rows_ = 0;
    std::uint64_t expected_messages_ = 0;
    std::uint64_t told_ = 0;
    clock::time_point told_at_ = clock::now();
};

}  // namespace walrelay::tasks
