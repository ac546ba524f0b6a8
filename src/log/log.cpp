#include "log/log.hpp"

#include "log/line_writer.hpp"
#include "log/log_fold.hpp"
#include "log/log_memory.hpp"
#include "log/log_text.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace walrelay {
namespace {

wall_time wall_now() {
    return std::chrono::time_point_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now());
}

log_severity least_of(config::log_level level) {
    switch (level) {
        case config::log_level::trace:
        case config::log_level::debug:
            return log_severity::debug;
        case config::log_level::info:
            return log_severity::info;
        case config::log_level::warn:
            return log_severity::warning;
        case config::log_level::error:
            break;
    }
    return log_severity::error;
}

/// Source: systemd.exec(5), JOURNAL_STREAM.
bool is_read_by_the_journal(int descriptor) {
    const char* const stream = std::getenv("JOURNAL_STREAM");
    struct stat of {};
    return stream != nullptr && fstat(descriptor, &of) == 0 &&
           stream == std::to_string(of.st_dev) + ":" + std::to_string(of.st_ino);
}

/// How lines look, and which are written.
struct line_style {
    bool as_json = false;
    bool for_the_journal = false;
    log_severity least = log_severity::info;

    [[nodiscard]] std::string of(const log_entry& line, wall_time at) const {
        auto text = as_json ? json_line(line, at) : text_line(line, at);
        return for_the_journal ? priority_prefix(line.severity()) + text : text;
    }
};

/// To standard error, however slowly that is read.
class standard_error_log {
public:
    explicit standard_error_log(line_style style)
        : style_(style), writer_(STDERR_FILENO, kept_bytes, [style](std::uint64_t lines) {
              return style.of(dropped(lines), wall_now());
          }) {}
    standard_error_log(const standard_error_log&) = delete;
    standard_error_log& operator=(const standard_error_log&) = delete;
    standard_error_log(standard_error_log&&) = delete;
    standard_error_log& operator=(standard_error_log&&) = delete;
    ~standard_error_log() { write(fold_.end(std::chrono::steady_clock::now())); }

    void take(log_entry line) {
        if (line.severity() < style_.least) {
            return;
        }
        const std::scoped_lock lock(guard_);
        write(fold_.take(std::move(line), std::chrono::steady_clock::now()));
    }

    void write_what_is_due() {
        const std::scoped_lock lock(guard_);
        write(fold_.due(std::chrono::steady_clock::now()));
    }

private:
    static constexpr std::size_t kept_bytes = std::size_t{1} << 20U;

    static log_entry dropped(std::uint64_t lines) {
        return log_entry::of<"lines_dropped">(
            std::to_string(lines) +
                (lines == 1 ? " line of the log was" : " lines of the log were") +
                " dropped here: whoever reads it is too slow",
            with<"lines">(lines));
    }

    void write(const std::vector<log_entry>& lines) {
        for (const auto& each : lines) {
            const auto at = wall_now();
            if (each.severity() > log_severity::debug) {
                remembered_log().keep(at, each);
            }
            writer_.write(style_.of(each, at));
        }
    }

    line_style style_;
    std::mutex guard_;
    log_fold fold_;
    line_writer writer_;
};

/// From set_up_log to end_log; what is logged before and after that is lost.
std::unique_ptr<standard_error_log>& the_log() {
    static std::unique_ptr<standard_error_log> one;
    return one;
}

}  // namespace

void set_up_log(const config::log_settings& settings) {
    the_log() = std::make_unique<standard_error_log>(
        line_style{settings.format == config::log_format::json,
                   is_read_by_the_journal(STDERR_FILENO), least_of(settings.level)});
}

void end_log() {
    the_log().reset();
}

void write_to_log(log_entry line) {
    if (the_log()) {
        the_log()->take(std::move(line));
    }
}

void write_counted_lines() {
    if (the_log()) {
        the_log()->write_what_is_due();
    }
}

void log_finding(const finding& found) {
    auto line = found.what + "; fix: " + found.remedy;
    const auto code = std::string(found.code.text());
    switch (found.severity) {
        case finding_severity::note:
            log<"finding_noted">(found.what + ": " + found.remedy, with<"code">(code));
            break;
        case finding_severity::warning:
            log<"finding_warned">(std::move(line), with<"code">(code));
            break;
        case finding_severity::error:
            log<"finding_failed">(std::move(line), with<"code">(code));
            break;
    }
}

}  // namespace walrelay
