#include "wal/postgres_time.hpp"

namespace walrelay::wal {
namespace {

using std::chrono::microseconds;

constexpr microseconds postgres_epoch =
    std::chrono::sys_days{std::chrono::year{2000} / std::chrono::January / 1}.time_since_epoch();

constexpr std::size_t date_and_time_length = sizeof "2026-01-31 12:34:56" - 1;
constexpr std::string_view utc_offset = "+00";

/// The digits at `start`; -1 if they are not all digits.
int number_at(std::string_view text, std::size_t start, std::size_t length) {
    int number = 0;
    for (const char digit : text.substr(start, length)) {
        if (digit < '0' || digit > '9') {
            return -1;
        }
        number = number * 10 + (digit - '0');
    }
    return number;
}

bool is_punctuated(std::string_view text) {
    return text[4] == '-' && text[7] == '-' && text[10] == ' ' && text[13] == ':' &&
           text[16] == ':';
}

std::optional<std::chrono::sys_days> parse_date(std::string_view text) {
    const int year = number_at(text, 0, 4);
    const int month = number_at(text, 5, 2);
    const int day = number_at(text, 8, 2);
    if (year < 0 || month < 0 || day < 0) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{std::chrono::year{year},
                                           std::chrono::month{static_cast<unsigned>(month)},
                                           std::chrono::day{static_cast<unsigned>(day)}};
    if (!date.ok()) {
        return std::nullopt;
    }
    return std::chrono::sys_days{date};
}

std::optional<std::chrono::seconds> parse_time_of_day(std::string_view text) {
    const int hour = number_at(text, 11, 2);
    const int minute = number_at(text, 14, 2);
    const int second = number_at(text, 17, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) {
        return std::nullopt;
    }
    return std::chrono::hours{hour} + std::chrono::minutes{minute} + std::chrono::seconds{second};
}

/// What stands between the seconds and the offset: nothing, or a point and one to six digits.
std::optional<microseconds> parse_fraction(std::string_view text) {
    constexpr std::size_t most_digits = 6;
    if (text.empty()) {
        return microseconds{0};
    }
    if (text.front() != '.' || text.size() < 2 || text.size() > most_digits + 1) {
        return std::nullopt;
    }
    int fraction = number_at(text, 1, most_digits);
    if (fraction < 0) {
        return std::nullopt;
    }
    for (auto digits = text.size() - 1; digits < most_digits; ++digits) {
        fraction *= 10;
    }
    return microseconds{fraction};
}

}  // namespace

std::optional<wall_time> from_postgres_time(std::int64_t microseconds_since_2000) {
    if (microseconds_since_2000 > furthest_time || microseconds_since_2000 < -furthest_time) {
        return std::nullopt;
    }
    return wall_time{postgres_epoch + microseconds{microseconds_since_2000}};
}

std::int64_t to_postgres_time(wall_time time) {
    return (time.time_since_epoch() - postgres_epoch).count();
}

std::optional<wall_time> parse_timestamp(std::string_view text) {
    if (text.size() < date_and_time_length + utc_offset.size() || !text.ends_with(utc_offset) ||
        !is_punctuated(text)) {
        return std::nullopt;
    }
    const auto date = parse_date(text);
    const auto time_of_day = parse_time_of_day(text);
    text.remove_suffix(utc_offset.size());
    const auto fraction = parse_fraction(text.substr(date_and_time_length));
    if (!date || !time_of_day || !fraction) {
        return std::nullopt;
    }
    return wall_time{*date + *time_of_day + *fraction};
}

}  // namespace walrelay::wal
