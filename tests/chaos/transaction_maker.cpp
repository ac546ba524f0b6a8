// See transaction_maker.hpp.
#include "chaos/transaction_maker.hpp"

#include "support/outbox_events.hpp"
#include "support/postgres_session.hpp"

#include <array>
#include <utility>

namespace walrelay::chaos {
namespace {

constexpr const char* insert_head =
    "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data, status,"
    " version, created_at) VALUES ";

std::string values(std::uint64_t number, const std::string& aggregate,
                   const std::string& event_type, const std::string& note) {
    return "('" + test::event_id(number) + "', " + test::as_literal(aggregate) + ", 'order', " +
           test::as_literal(event_type) + ", jsonb_build_object('n', " + std::to_string(number) +
           ", 'note', " + test::as_literal(note) + "), 'pending', " + std::to_string(number) +
           ", clock_timestamp())";
}

}  // namespace

transaction_maker::transaction_maker(std::string aggregate, std::uint64_t first, std::uint64_t seed)
    : aggregate_(std::move(aggregate)), next_(first), random_(seed) {}

std::string transaction_maker::note() {
    constexpr std::array pieces{"order ",        "\xC3\xA4 ", "\"quoted\" ", "back\\slash ",
                                "\xE2\x82\xAC ", "it's ",     "\r\n",        "\xF0\x9F\x98\x80 "};
    constexpr std::uint64_t usual = 8;
    constexpr std::uint64_t many = 3000;
    std::string text;
    for (auto left = random_.one_in(400) ? many : random_.between(0, usual); left > 0; --left) {
        text += pieces.at(random_.between(0, pieces.size() - 1));
    }
    return text;
}

std::string transaction_maker::row() {
    constexpr std::array types{"placed", "paid", "packed", "sent", "returned"};
    const auto number = next_++;
    return values(number, aggregate_, types.at(number % types.size()), note());
}

std::string transaction_maker::insert(std::uint64_t rows) {
    std::string text = insert_head + row();
    for (std::uint64_t count = 1; count < rows; ++count) {
        text += ", " + row();
    }
    return text + "; ";
}

std::uint64_t transaction_maker::part(std::string& text) {
    constexpr std::uint64_t usual_rows = 8;
    constexpr std::uint64_t many_rows = 300;
    const auto rows =
        random_.one_in(200) ? random_.between(1, many_rows) : random_.between(1, usual_rows);
    switch (random_.between(0, 5)) {
        case 0:
            text += "SAVEPOINT a; " + insert(rows) + "ROLLBACK TO a; ";
            return 0;
        case 1:
            text += "SAVEPOINT a; " + insert(rows) + "RELEASE a; ";
            return rows;
        default:
            text += insert(rows);
            return rows;
    }
}

transaction_text transaction_maker::next() {
    constexpr std::uint64_t most_parts = 3;
    transaction_text result{.beginning = "BEGIN; "};
    result.rows = part(result.beginning);
    for (auto left = random_.between(0, most_parts - 1); left > 0; --left) {
        result.rows += part(result.ending);
    }
    if (random_.one_in(12)) {
        result.ending += "ROLLBACK";
        result.rows = 0;
    } else {
        result.ending += "COMMIT";
    }
    return result;
}

std::string insert_marker(std::uint64_t number, const std::string& event_type) {
    return insert_head + values(number, "marker", event_type, "");
}

}  // namespace walrelay::chaos
