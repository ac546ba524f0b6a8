#include "log/log.hpp"

#include "core/json_string.hpp"
#include "core/one_line.hpp"
#include "log/line_writer.hpp"
#include "log/log_memory.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <chrono>
#include <memory>
#include <mutex>

namespace walrelay {
namespace {

wall_time wall_now() {
    return std::chrono::time_point_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now());
}

/// %J: the message as a JSON string.
class json_message_flag final : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
                spdlog::memory_buf_t& into) override {
        const auto text = json_string({message.payload.data(), message.payload.size()});
        into.append(text.data(), text.data() + text.size());
    }

    [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
        return spdlog::details::make_unique<json_message_flag>();
    }
};

/// To standard error, however slowly that is read.
class patient_sink final : public spdlog::sinks::base_sink<std::mutex> {
protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        writer_.write({line.data(), line.size()});
    }
    void flush_() override {}

private:
    static constexpr std::size_t kept_bytes = std::size_t{1} << 20U;
    line_writer writer_{STDERR_FILENO, kept_bytes};
};

spdlog::level::level_enum level_of(config::log_level level) {
    switch (level) {
        case config::log_level::trace:
            return spdlog::level::trace;
        case config::log_level::debug:
            return spdlog::level::debug;
        case config::log_level::info:
            return spdlog::level::info;
        case config::log_level::warn:
            return spdlog::level::warn;
        case config::log_level::error:
            return spdlog::level::err;
    }
    return spdlog::level::info;
}

}  // namespace

void set_up_log(const config::log_settings& settings) {
    auto logger = std::make_shared<spdlog::logger>("walrelay", std::make_shared<patient_sink>());
    auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
    formatter->add_flag<json_message_flag>('J');
    if (settings.format == config::log_format::json) {
        formatter->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","message":%J})");
    } else {
        formatter->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %-7l %v");
    }
    logger->set_formatter(std::move(formatter));
    logger->set_level(level_of(settings.level));
    spdlog::set_default_logger(std::move(logger));
}

void end_log() {
    spdlog::shutdown();
}

// A line of the log can hold what a row, a role or a server says: it stays one line, a short one.
constexpr std::size_t line_bytes_max = 4096;

void log_debug(std::string_view text) {
    spdlog::debug("{}", one_line(text, line_bytes_max));
}

void log_info(std::string_view text) {
    remembered_log().keep(wall_now(), "info", text);
    spdlog::info("{}", one_line(text, line_bytes_max));
}

void log_warning(std::string_view text) {
    remembered_log().keep(wall_now(), "warning", text);
    spdlog::warn("{}", one_line(text, line_bytes_max));
}

void log_error(std::string_view text) {
    remembered_log().keep(wall_now(), "error", text);
    spdlog::error("{}", one_line(text, line_bytes_max));
}

void log_finding(const finding& found) {
    const auto line = found.what + "; fix: " + found.remedy;
    switch (found.severity) {
        case finding_severity::note:
            log_info(found.what + ": " + found.remedy);
            break;
        case finding_severity::warning:
            log_warning(line);
            break;
        case finding_severity::error:
            log_error(line);
            break;
    }
}

}  // namespace walrelay
