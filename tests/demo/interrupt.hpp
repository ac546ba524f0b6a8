// Ctrl-C: noticed at once, obeyed in order, so that the servers and their folders go away.
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

namespace walrelay::demo {

/// Thrown where the demonstration finds that it was asked to end.
struct interrupted {};

/// From now on SIGINT, SIGTERM and SIGHUP are only noted.
void note_interrupts();
[[nodiscard]] bool was_interrupted();

/// Returns once `condition` holds. Throws `interrupted` after Ctrl-C and std::runtime_error with
/// `otherwise` when it takes longer than `patience`.
void wait_until(std::chrono::milliseconds patience, const std::string& otherwise,
                const std::function<bool()>& condition);

/// Lets time pass; throws `interrupted` after Ctrl-C.
void let_pass(std::chrono::milliseconds duration);

}  // namespace walrelay::demo
