#include "log/log_fold.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace walrelay {
namespace {

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

bool log_fold::is_counted(const kind& known, bool is_trouble) {
    return known.is_pair() || (is_trouble && !known.is_over);
}

/// In the order in which they came last: what stands last is how it is.
void log_fold::write_counted(std::vector<log_entry>& lines, monotonic_time now,
                             bool (*which)(const kind&, monotonic_time)) {
    std::vector<kind*> due;
    for (auto& each : kinds_) {
        if (each.times > 0 && which(each, now)) {
            due.push_back(&each);
        }
    }
    std::ranges::stable_sort(due, {}, &kind::at);
    for (auto* const each : due) {
        append(lines, *each, now);
        each->times = 0;
        each->since = now;
    }
}

std::vector<log_entry> log_fold::take(log_entry line, monotonic_time now) {
    if (line.severity() == log_severity::debug) {
        return {std::move(line)};
    }
    const bool is_trouble = line.severity() != log_severity::info;
    auto lines = due(now);
    auto words = words_of(line);
    const auto known = std::ranges::find(kinds_, words, &kind::words);
    const bool is_known = known != kinds_.end();
    if (!is_trouble) {
        for (auto& each : kinds_) {
            each.is_over = true;
        }
    }
    if (is_known && is_counted(*known, is_trouble)) {
        ++known->times;
        known->at = now;
        known->last = std::move(line);
        return lines;
    }
    if (!is_trouble) {
        write_counted(lines, now, [](const kind&, monotonic_time) { return true; });
    }
    if (is_known) {
        ++known->written;
        known->at = now;
        known->since = now;
        known->is_over = false;
        known->last = line;
    } else {
        if (kinds_.size() == kinds_max) {
            append(lines, kinds_.front(), now);
            kinds_.pop_front();
        }
        kinds_.push_back({std::move(words), line, now, now});
    }
    lines.push_back(std::move(line));
    return lines;
}

std::vector<log_entry> log_fold::due(monotonic_time now) {
    std::vector<log_entry> lines;
    const auto is_old = [](const kind& each, monotonic_time at) {
        return at - each.since >= window;
    };
    const bool pairs_are_due = std::ranges::any_of(kinds_, [&](const kind& each) {
        return each.is_pair() && each.times > 0 && is_old(each, now);
    });
    std::erase_if(kinds_, [&](const kind& each) { return each.times == 0 && is_old(each, now); });
    if (pairs_are_due) {
        write_counted(lines, now, [](const kind& each, monotonic_time at) {
            return each.is_pair() || at - each.since >= window;
        });
    } else {
        write_counted(lines, now, is_old);
    }
    // Those that begin anew are the youngest.
    std::ranges::stable_sort(kinds_, {}, &kind::since);
    return lines;
}

std::vector<log_entry> log_fold::end(monotonic_time now) {
    std::vector<log_entry> lines;
    write_counted(lines, now, [](const kind&, monotonic_time) { return true; });
    kinds_.clear();
    return lines;
}

}  // namespace walrelay
