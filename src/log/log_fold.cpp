#include "log/log_fold.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace walrelay {
namespace {

bool is_digit(char each) {
    return each >= '0' && each <= '9';
}

/// With every number as one sign, and parts that cannot run into each other.
std::string words_of(const log_entry& line) {
    std::string words{line.event().name};
    const auto add = [&words](const std::string& text) { words += '\n' + text; };
    std::string sentence;
    for (const char each : line.text()) {
        if (!is_digit(each)) {
            sentence += each;
        } else if (sentence.empty() || sentence.back() != '0') {
            sentence += '0';
        }
    }
    add(sentence);
    for (const auto& each : line.fields()) {
        if (const auto* const text = std::get_if<std::string>(&each.value)) {
            add(*text);
        }
    }
    return words;
}

}  // namespace

void log_fold::append(std::vector<log_entry>& lines, const kind& of, monotonic_time now) {
    if (of.times > 0) {
        lines.push_back(of.last.repeated(
            of.times, std::chrono::duration_cast<std::chrono::milliseconds>(now - of.since)));
    }
}

std::vector<log_entry> log_fold::take(log_entry line, monotonic_time now) {
    if (line.severity() == log_severity::debug) {
        return {std::move(line)};
    }
    if (line.severity() == log_severity::info) {
        auto lines = end(now);
        lines.push_back(std::move(line));
        return lines;
    }
    auto lines = due(now);
    auto words = words_of(line);
    const auto known = std::ranges::find(kinds_, words, &kind::words);
    if (known != kinds_.end()) {
        ++known->times;
        known->last = std::move(line);
        return lines;
    }
    if (kinds_.size() == kinds_max) {
        append(lines, kinds_.front(), now);
        kinds_.pop_front();
    }
    kinds_.push_back({std::move(words), line, now});
    lines.push_back(std::move(line));
    return lines;
}

std::vector<log_entry> log_fold::due(monotonic_time now) {
    std::vector<log_entry> lines;
    std::deque<kind> kept;
    for (auto& each : kinds_) {
        if (now - each.since < window) {
            kept.push_back(std::move(each));
            continue;
        }
        append(lines, each, now);
        if (each.times > 0) {
            each.times = 0;
            each.since = now;
            kept.push_back(std::move(each));
        }
    }
    // Those that begin anew are the youngest.
    std::ranges::stable_sort(kept, {}, &kind::since);
    kinds_ = std::move(kept);
    return lines;
}

std::vector<log_entry> log_fold::end(monotonic_time now) {
    std::vector<log_entry> lines;
    for (const auto& each : std::exchange(kinds_, {})) {
        append(lines, each, now);
    }
    return lines;
}

}  // namespace walrelay
