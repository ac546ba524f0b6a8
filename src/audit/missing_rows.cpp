#include "audit/missing_rows.hpp"

#include "audit/removed_rows.hpp"
#include "core/assert.hpp"
#include "core/occasion.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::audit {
namespace {

// For an id like a UUID, which is 36 bytes of text.
constexpr std::uint64_t row_record_bytes = 46;
constexpr std::uint64_t message_record_bytes = 44;

std::uint64_t expected_bytes(const missing_rows_options& options) {
    return options.expected_rows * row_record_bytes +
           options.expected_messages * message_record_bytes;
}

store_shape shape_for(const missing_rows_options& options) {
    constexpr unsigned least_bits = 4;
    constexpr unsigned most_bits = 10;
    const auto wanted_bytes = std::max<std::uint64_t>(options.bucket_bytes / 3, 1);
    store_shape shape;
    shape.bucket_bits = least_bits;
    while (shape.bucket_bits < most_bits &&
           (expected_bytes(options) >> shape.bucket_bits) > wanted_bytes) {
        ++shape.bucket_bits;
    }
    return shape;
}

}  // namespace

result<std::unique_ptr<missing_rows>> missing_rows::make(missing_rows_options options) {
    auto file = spill_file::make(options.folder, expected_bytes(options));
    if (!file) {
        return file.error();
    }
    const auto shape = shape_for(options);
    return std::unique_ptr<missing_rows>(
        new missing_rows(std::move(options), std::move(*file), shape));
}

missing_rows::missing_rows(missing_rows_options options, spill_file file, store_shape shape)
    : options_(std::move(options)),
      file_(std::move(file)),
      store_(file_, shape),
      tables_(options_.tables) {}

void missing_rows::add(table_state& table, row_traits traits) {
    ++table.rows;
    table.pending.push_back(traits.is_pending);
    table.begins_a_time.push_back(traits.begins_a_time);
}

result<void> missing_rows::add_row(std::uint32_t table, std::string_view id, row_traits traits) {
    auto& here = tables_.at(table);
    record one;
    one.kind = record_kind::row;
    one.number = here.rows;
    one.group = table;
    one.id = id;
    add(here, traits);
    return store_.add(one);
}

void missing_rows::add_row_without_id(std::uint32_t table, row_traits traits) {
    auto& here = tables_.at(table);
    here.without_id.push_back(here.rows);
    add(here, traits);
}

result<void> missing_rows::add_message(std::string_view id) {
    record one;
    one.kind = record_kind::message;
    one.id = id;
    auto added = store_.add(one);
    one.kind = record_kind::republication;
    for_each_republished_id(id, [&](std::string_view row) {
        one.id = row;
        added = added ? store_.add(one) : added;
    });
    return added;
}

result<void> missing_rows::add_dead_letter(std::uint32_t table, std::string_view id) {
    if (id.empty()) {
        ++tables_.at(table).letters_without_id;
        return {};
    }
    record one;
    one.kind = record_kind::dead_letter;
    one.group = table;
    one.id = id;
    return store_.add(one);
}

result<void> missing_rows::find() {
    if (auto written = store_.finish(); !written) {
        return written;
    }
    for (auto& table : tables_) {
        table.missing.assign(table.rows, true);
        table.published.assign(table.rows, false);
        const auto known =
            std::min<std::uint64_t>(table.letters_without_id, table.without_id.size());
        for (std::uint64_t index = 0; index < known; ++index) {
            hold(table, table.without_id[index]);
        }
    }
    return for_each_id(
        store_, file_, options_.bucket_bytes,
        [this](std::string_view /*id*/, id_facts& facts) -> result<void> {
            if (facts.rows == 1) {
                settle(facts.last_row, facts);
            }
            return {};
        },
        [this](const record& row, id_facts& facts) -> result<void> {
            settle(row, facts);
            return {};
        });
}

void missing_rows::settle(const record& row, id_facts& facts) {
    auto& table = tables_.at(row.group);
    // Which of several rows a message is of, it does not tell. As the stream's beginning count the
    // last ones: limits take the messages of the first.
    const auto stored = facts.all_copies();
    if (facts.unanswered() <= stored) {
        table.first_stored = std::min(table.first_stored.value_or(row.number), row.number);
    }
    if (facts.unanswered() <= stored + facts.lettered_rows()) {
        table.first_held = std::min(table.first_held.value_or(row.number), row.number);
    }
    const auto holder = facts.next_holder(row.group);
    table.missing.at(row.number) = holder == row_holder::nothing;
    table.published.at(row.number) = holder == row_holder::message && table.pending[row.number];
}

void missing_rows::hold(table_state& table, std::uint64_t row) {
    table.missing.at(row) = false;
    table.first_held = std::min(table.first_held.value_or(row), row);
}

bool missing_rows::is_missing(std::uint32_t table, std::uint64_t row) const {
    const auto& here = at(table);
    WALRELAY_ASSERT(row < here.missing.size());
    return here.missing[row];
}

row_run missing_rows::next_run(std::uint32_t table, std::uint64_t from, std::uint64_t longest,
                               bool also_published) const {
    const auto& here = at(table);
    row_run run{from, 0, false};
    while (run.first < here.rows && !here.missing[run.first] &&
           !(also_published && here.published[run.first])) {
        ++run.first;
    }
    if (run.first < here.rows) {
        run.published = !here.missing[run.first];
        const auto& same = run.published ? here.published : here.missing;
        while (run.length < longest && run.first + run.length < here.rows &&
               same[run.first + run.length]) {
            ++run.length;
        }
    }
    return run;
}

std::uint64_t missing_rows::missing_count(std::uint32_t table) const {
    const auto& rows = at(table).missing;
    return static_cast<std::uint64_t>(std::count(rows.begin(), rows.end(), true));
}

std::uint64_t missing_rows::pending_count(std::uint32_t table) const {
    const auto& here = at(table);
    std::uint64_t count = 0;
    for (std::uint64_t row = 0; row < here.rows; ++row) {
        count += here.missing[row] && here.pending[row] ? 1U : 0U;
    }
    return count;
}

std::uint64_t missing_rows::excuse_older(std::uint32_t table, const excuse& which) {
    auto& here = tables_.at(table);
    const auto& first = which.by_messages ? here.first_stored : here.first_held;
    const auto end = first ? older_than(here.begins_a_time, *first) : here.rows;
    std::uint64_t excused = 0;
    for (std::uint64_t row = 0; row < end && excused < which.at_most; ++row) {
        if (here.missing[row] && !(which.but_pending && here.pending[row])) {
            here.missing[row] = false;
            ++excused;
        }
    }
    return excused;
}

}  // namespace walrelay::audit
