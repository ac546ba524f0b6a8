#include "tasks/verify/compared_rows.hpp"

#include "outbox/reading_order.hpp"

#include <utility>

namespace walrelay::tasks {
namespace {

error missing_table(const table_name& table) {
    return {errc::postgres_unsuitable, "table " + to_string(table) + " does not exist",
            "correct outbox.table in the configuration"};
}

}  // namespace

result<void> compared_rows::prepare(const config::settings& settings,
                                    const postgres::snapshot_facts& snapshot, bool by_age) {
    for (std::size_t index = 0; index < settings.outbox.size(); ++index) {
        const auto& facts = snapshot.tables[index];
        if (!facts.exists) {
            return missing_table(facts.table);
        }
        auto reader = outbox::message_id_reader::make(settings.outbox[index], facts.columns,
                                                      snapshot.domains);
        if (!reader) {
            return reader.error();
        }
        tables_.push_back(postgres::scope_of(facts));
        readers_.push_back(std::move(*reader));
        auto order =
            outbox::reading_order_of(settings.outbox[index], facts.columns, snapshot.domains);
        const bool by_time = by_age && order && order->follows_time;
        orders_.push_back(by_time ? std::move(order->columns) : std::vector<std::string>());
    }
    return {};
}

postgres::row_reading compared_rows::begin(std::uint32_t number) {
    number_ = number;
    last_time_.reset();
    postgres::row_reading how{tables_[number], readers_[number].columns(), wheres_[number],
                              orders_[number], was_stored_};
    if (!how.order_by.empty()) {
        how.columns.push_back(how.order_by.front());
    }
    return how;
}

result<void> compared_rows::add(const postgres::row_set& rows, audit::auditor& to) {
    std::vector<field> values;
    std::string id;
    const auto id_columns = static_cast<std::ptrdiff_t>(readers_[number_].columns().size());
    for (const auto& row : rows.rows()) {
        values.assign(row.begin(), row.begin() + id_columns);
        const auto age = age_of(row);
        const auto made = readers_[number_].read(values, id);
        if (!made) {
            to.add_row_without_id(number_, made.error().what, age);
            continue;
        }
        if (auto added = to.add_row(number_, id, age); !added) {
            return added;
        }
    }
    return {};
}

audit::row_age compared_rows::age_of(const std::vector<postgres::cell>& row) {
    audit::row_age age;
    age.was_stored = !was_stored_.empty() && row.back() == "t";
    if (!orders_[number_].empty()) {
        const auto& time = row[readers_[number_].columns().size()];
        age.begins_a_time = !last_time_ || *last_time_ != time;
        last_time_ = time;
    }
    return age;
}

}  // namespace walrelay::tasks
