#include "outbox/timestamp.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <array>

namespace walrelay::outbox {
namespace {

namespace chrono = std::chrono;
using chrono::microseconds;

constexpr unsigned fraction_digits = 6;

/// Takes the pieces of a timestamp off the front of a text. Once a piece is missing it stays false.
class timestamp_reader {
public:
    explicit timestamp_reader(std::string_view text) : rest_(text) {}

    /// A number of exactly so many digits.
    int number(std::size_t digits) {
        int value = 0;
        for (std::size_t count = 0; count < digits; ++count) {
            value = value * 10 + digit();
        }
        return value;
    }

    void expect(char wanted) { good_ &= take(wanted); }

    bool take(char wanted) {
        if (rest_.empty() || rest_.front() != wanted) {
            return false;
        }
        rest_.remove_prefix(1);
        return true;
    }

    /// What follows the point, in millionths: 1 to 6 digits.
    microseconds fraction() {
        std::int64_t value = digit();
        for (unsigned count = 1; count < fraction_digits; ++count) {
            value = value * 10 + (at_digit() ? digit() : 0);
        }
        return microseconds(value);
    }

    /// "+05", "-03:30" or "+00:19:32", to be taken away from the time in front of it.
    chrono::seconds zone() {
        const bool west = take('-');
        if (!west && !take('+')) {
            return chrono::seconds(0);
        }
        chrono::seconds offset = chrono::hours(number(2));
        if (take(':')) {
            offset += chrono::minutes(number(2));
        }
        if (take(':')) {
            offset += chrono::seconds(number(2));
        }
        return west ? -offset : offset;
    }

    [[nodiscard]] bool finished() const { return good_ && rest_.empty(); }

private:
    [[nodiscard]] bool at_digit() const { return !rest_.empty() && is_digit(rest_.front()); }

    int digit() {
        good_ &= at_digit();
        if (!good_) {
            return 0;
        }
        const int value = rest_.front() - '0';
        rest_.remove_prefix(1);
        return value;
    }

    std::string_view rest_;
    bool good_ = true;
};

bool is_representable(wall_time when) {
    return when >= chrono::sys_days(chrono::year(1) / 1 / 1) &&
           when < chrono::sys_days(chrono::year(10000) / 1 / 1);
}

/// Writes `value` with exactly `digits` digits in front of `end`; returns where it begins.
char* put_number(char* end, std::int64_t value, unsigned digits) {
    for (unsigned count = 0; count < digits; ++count) {
        *--end = static_cast<char>('0' + value % 10);
        value /= 10;
    }
    return end;
}

/// The two digits at `offset`, which must be there.
unsigned two_digits(std::string_view text, std::size_t offset) {
    return 10U * static_cast<unsigned>(text[offset] - '0') +
           static_cast<unsigned>(text[offset + 1] - '0');
}

/// Whether each byte is that of the form, where 0 stands for any digit.
bool has_form(std::string_view text, std::string_view form) {
    return std::equal(text.begin(), text.end(), form.begin(), form.end(), [](char have, char want) {
        return want == '0' ? is_digit(have) : have == want;
    });
}

bool is_valid(std::string_view second) {
    const chrono::year year(static_cast<int>(100 * two_digits(second, 0) + two_digits(second, 2)));
    const auto date =
        year / chrono::month(two_digits(second, 5)) / chrono::day(two_digits(second, 8));
    return date.ok() && year >= chrono::year(1) && two_digits(second, 11) < 24 &&
           two_digits(second, 14) < 60 && two_digits(second, 17) < 60;
}

constexpr std::string_view second_form = "0000-00-00 00:00:00";
constexpr std::string_view fraction_form = ".000000";

/// "2024-02-29 12:30:00.5+00" without the zone, if the text is such a one; else empty.
std::string_view plain_utc(std::string_view text) {
    constexpr std::string_view zone = "+00";
    if (!text.ends_with(zone) || text.size() < second_form.size() + zone.size()) {
        return {};
    }
    text.remove_suffix(zone.size());
    const auto second = text.substr(0, second_form.size());
    const auto fraction = text.substr(second.size());
    const bool is_plain =
        has_form(second, second_form) && is_valid(second) &&
        (fraction.empty() || (fraction.size() > 1 && !fraction.ends_with('0') &&
                              has_form(fraction, fraction_form.substr(0, fraction.size()))));
    return is_plain ? text : std::string_view{};
}

}  // namespace

std::optional<wall_time> parse_timestamp(std::string_view text) {
    timestamp_reader reader(text);
    const chrono::year the_year(reader.number(4));
    reader.expect('-');
    const chrono::month the_month(static_cast<unsigned>(reader.number(2)));
    reader.expect('-');
    const chrono::day the_day(static_cast<unsigned>(reader.number(2)));
    reader.expect(' ');
    const chrono::hours the_hour(reader.number(2));
    reader.expect(':');
    const chrono::minutes the_minute(reader.number(2));
    reader.expect(':');
    const chrono::seconds the_second(reader.number(2));
    const auto fraction = reader.take('.') ? reader.fraction() : microseconds(0);
    const auto zone = reader.zone();
    const auto date = the_year / the_month / the_day;
    if (!reader.finished() || !date.ok() || the_hour >= chrono::hours(24) ||
        the_minute >= chrono::minutes(60) || the_second >= chrono::seconds(60)) {
        return std::nullopt;
    }
    const wall_time when =
        chrono::sys_days(date) + the_hour + the_minute + the_second + fraction - zone;
    return is_representable(when) ? std::optional(when) : std::nullopt;
}

bool append_rfc3339(std::string& text, wall_time when) {
    if (!is_representable(when)) {
        return false;
    }
    const auto midnight = chrono::floor<chrono::days>(when);
    const chrono::year_month_day date(midnight);
    const chrono::hh_mm_ss time(when - midnight);
    std::array<char, sizeof "2024-02-29T12:30:00" - 1> clock = {
        0, 0, 0, 0, '-', 0, 0, '-', 0, 0, 'T', 0, 0, ':', 0, 0, ':', 0, 0};
    put_number(&clock[4], static_cast<int>(date.year()), 4);
    put_number(&clock[7], static_cast<unsigned>(date.month()), 2);
    put_number(&clock[10], static_cast<unsigned>(date.day()), 2);
    put_number(&clock[13], time.hours().count(), 2);
    put_number(&clock[16], time.minutes().count(), 2);
    put_number(clock.data() + clock.size(), time.seconds().count(), 2);
    text.append(clock.data(), clock.size());
    if (const auto fraction = time.subseconds().count(); fraction != 0) {
        std::array<char, fraction_digits> digits{};
        put_number(digits.data() + digits.size(), fraction, fraction_digits);
        const std::string_view printed(digits.data(), digits.size());
        text += '.';
        text.append(printed.substr(0, printed.find_last_not_of('0') + 1));
    }
    text += 'Z';
    return true;
}

bool append_rfc3339(std::string& text, std::string_view timestamp) {
    const auto plain = plain_utc(timestamp);
    if (plain.empty()) {
        const auto when = parse_timestamp(timestamp);
        return when && append_rfc3339(text, *when);
    }
    const auto date_bytes = plain.find(' ');
    text.append(plain.substr(0, date_bytes));
    text += 'T';
    text.append(plain.substr(date_bytes + 1));
    text += 'Z';
    return true;
}

}  // namespace walrelay::outbox
