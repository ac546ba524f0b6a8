// Says on standard error how far a look at the messages has come, where it takes long, and how to
// make it shorter.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace walrelay::tasks {

/// "looks at all messages of the stream: ..."; `seconds` have passed since it began with message
/// `begin`, and it has come to `now`.
[[nodiscard]] std::string look_in_words(const std::string& subject, std::uint64_t begin,
                                        std::uint64_t last, std::uint64_t now, double seconds);

class find_progress {
public:
    find_progress();

    /// Of this subject, or `>`, the messages up to the sequence `last`.
    void begin(const std::string& subject, std::uint64_t begin, std::uint64_t last);
    /// Cheap: to be called for every message.
    void tell(std::uint64_t sequence);
    /// Takes the line away from the terminal.
    void end();

private:
    using clock = std::chrono::steady_clock;

    bool on_terminal_;
    bool is_written_ = false;
    std::string subject_;
    std::uint64_t begin_ = 0;
    std::uint64_t last_ = 0;
    std::uint64_t calls_ = 0;
    clock::time_point begun_ = clock::now();
    clock::time_point told_at_ = begun_;
};

}  // namespace walrelay::tasks
