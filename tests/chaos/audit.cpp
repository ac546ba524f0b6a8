// See audit.hpp.
#include "chaos/audit.hpp"

#include "support/comparison.hpp"

#include <functional>
#include <stdexcept>
#include <unordered_map>

namespace walrelay::chaos {
namespace {

using contents = std::unordered_map<std::string, std::size_t>;

std::size_t digest(const std::string& subject, const std::string& aggregate,
                   const std::string& body) {
    return std::hash<std::string>{}(subject + '\n' + aggregate + '\n' + body);
}

/// Of each row: what its message must look like.
contents contents_of(arena& where) {
    contents result;
    auto session = where.session();
    session.execute(
        "BEGIN; DECLARE rows NO SCROLL CURSOR FOR SELECT id, 'chaos.' || aggregate_type || '.' ||"
        " event_type, aggregate_id, event_data::text, aggregate_id LIKE 'odd%' FROM outbox_events");
    for (auto rows = session.query("FETCH 20000 FROM rows"); !rows.empty();
         rows = session.query("FETCH 20000 FROM rows")) {
        for (const auto& row : rows) {
            // Of odd rows, whose subject and header are encoded, the body alone.
            const bool odd = row[4].value() == "t";
            const auto content = odd ? digest({}, {}, row[3].value())
                                     : digest(row[1].value(), row[2].value(), row[3].value());
            result.emplace(row[0].value(), content);
        }
    }
    return result;
}

bool is_message_of(const test::stored_message& message, std::size_t row) {
    return row == digest(message.subject, message.header("Aggregate"), message.body) ||
           row == digest({}, {}, message.body);
}

std::vector<std::string> without(const std::vector<std::string>& ids,
                                 const std::set<std::string>& set_aside) {
    std::vector<std::string> left;
    left.reserve(ids.size());
    for (const auto& id : ids) {
        if (!set_aside.contains(id)) {
            left.push_back(id);
        }
    }
    return left;
}

/// Two witnesses that know nothing of each other.
void require_agreement(const std::vector<std::string>& committed, const contents& table) {
    bool agree = committed.size() == table.size();
    for (const auto& id : committed) {
        agree = agree && table.contains(id);
    }
    if (!agree) {
        throw std::runtime_error("the table has " + std::to_string(table.size()) +
                                 " rows, the order of commits " + std::to_string(committed.size()));
    }
}

struct stream_findings {
    test::comparison compared;
    std::uint64_t altered = 0;
    std::vector<stream_place> places;
};

stream_findings look_through(arena& where, const std::vector<std::string>& expected,
                             const contents& table, bool allow_gaps) {
    stream_findings result;
    // Rows in the dead letters leave gaps in the ordinals of their transactions.
    test::running_comparison comparison(
        expected, allow_gaps ? test::ordinals::rising : test::ordinals::consecutive);
    test::stream_reader reader(where.broker_url());
    const auto visit = [&](const test::stored_message& message) {
        const auto event = seen(message);
        // What was replayed is judged by who asked for it.
        const bool replayed = !message.header("Walrelay-Replay").empty();
        if (!replayed) {
            comparison.look_at(event);
        }
        const auto row = table.find(event.id);
        if (!replayed && row != table.end() && !is_message_of(message, row->second)) {
            ++result.altered;
        }
        if (const auto place = place_in(event.position)) {
            result.places.push_back(*place);
        }
    };
    // A stream that a fault has deleted has no messages.
    if (reader.state(stream_name)) {
        reader.for_each(stream_name, 0, visit);
    }
    result.compared = comparison.finish();
    return result;
}

/// A cluster that has just lost a server and found it again may not answer at first; a try that
/// fails is forgotten as a whole.
stream_findings look_through_patiently(arena& where, const std::vector<std::string>& expected,
                                       const contents& table, bool allow_gaps) {
    constexpr int tries = 8;
    for (int left = tries - 1; left > 0; --left) {
        try {
            return look_through(where, expected, table, allow_gaps);
        } catch (const std::runtime_error&) {
            // The next try makes a new consumer.
        }
    }
    return look_through(where, expected, table, allow_gaps);
}

}  // namespace

bool verdict::flawless() const {
    return lost + duplicated + inverted + phantom + altered + confirmed_early == 0;
}

void verdict::add(const verdict& other) {
    rows += other.rows;
    lost += other.lost;
    duplicated += other.duplicated;
    inverted += other.inverted;
    phantom += other.phantom;
    altered += other.altered;
    confirmed_early += other.confirmed_early;
    details += other.details;
}

verdict audit(arena& where, const audit_input& input) {
    const auto committed = input.order.ids();
    const auto table = contents_of(where);
    require_agreement(committed, table);
    const auto expected = without(committed, input.set_aside);
    const auto found = look_through_patiently(where, expected, table, !input.set_aside.empty());
    verdict result{.rows = committed.size(),
                   .lost = found.compared.missing.size(),
                   .duplicated = found.compared.twice.size(),
                   .inverted = found.compared.out_of_order.size(),
                   .phantom = found.compared.unexpected.size(),
                   .altered = found.altered,
                   .confirmed_early = confirmed_too_early(input.watch.samples(), found.places) +
                                      input.watch.steps_back()};
    if (!result.flawless()) {
        result.details = to_string(found.compared) + std::to_string(result.altered) + " altered\n" +
                         std::to_string(result.confirmed_early) +
                         " confirmed too early, or taken back\n";
    }
    return result;
}

}  // namespace walrelay::chaos
