#include "tasks/replay/table_rows.hpp"

#include "core/bytea_text.hpp"
#include "core/column_role.hpp"
#include "core/sql_text.hpp"
#include "core/type_oid.hpp"
#include "postgres/catalog/inspector.hpp"
#include "relay/intake/row_json.hpp"
#include "servers/translate.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::tasks {
namespace {

using boost::asio::awaitable;

/// What else is in a row of walrelay.control, at most.
constexpr std::size_t beside_the_row_bytes = 4096;
constexpr std::size_t kept_row_bytes = std::size_t{64} * 1024;

/// The configured column, else the one of the default name; empty where there is neither.
std::string column_playing(const std::optional<std::string>& configured, const char* usual,
                           const std::vector<column>& columns) {
    const auto name = configured.value_or(usual);
    return std::ranges::find(columns, name, &column::name) == columns.end() ? "" : name;
}

}  // namespace

table_rows::table_rows(std::size_t index, outbox::table_mapper mapper, postgres::replay_table shape,
                       std::uint64_t max_row_bytes)
    : index_(index),
      mapper_(std::move(mapper)),
      shape_(std::move(shape)),
      max_row_bytes_(max_row_bytes) {}

awaitable<result<std::unique_ptr<table_rows>>> table_rows::open(const config::settings& settings,
                                                                postgres::connection& sql,
                                                                table_name table) {
    auto request = servers::inspection_of(settings);
    request.write_backs.clear();
    const auto facts = co_await postgres::inspect(sql, std::move(request));
    if (!facts) {
        co_return facts.error();
    }
    auto mappers = servers::mappers_of(settings);
    if (!mappers) {
        co_return mappers.error();
    }
    const auto found = std::ranges::find(settings.outbox, table, &outbox_table::table);
    const auto index = static_cast<std::size_t>(found - settings.outbox.begin());
    const auto& about = facts->tables.at(index);
    const auto& columns = about.columns;
    postgres::replay_table shape{table,
                                 column_playing(found->columns.id, "id", columns),
                                 column_playing(found->columns.created_at, "created_at", columns),
                                 {},
                                 about.partitioned};
    for (const auto& each : columns) {
        shape.columns.push_back(each.name);
    }
    if (shape.id_column.empty()) {
        co_return error{errc::configuration_invalid,
                        "table " + to_string(table) + " has no column for the id of a row",
                        "set outbox.columns.id"};
    }
    auto& mapper = mappers->at(index);
    mapper.set_domains(facts->domains);
    auto made = std::make_unique<table_rows>(index, std::move(mapper), std::move(shape),
                                             settings.delivery.max_row_bytes.bytes);
    if (auto inverse = outbox::id_inverse::make(*found, columns, facts->domains)) {
        made->inverse_ = std::move(*inverse);
    }
    co_return std::move(made);
}

std::vector<std::string> table_rows::conditions_of(std::string_view id) const {
    const auto is = [](const std::string& column, std::string_view value) {
        // Of no type: it takes that of the column, so that an index serves.
        return quote_identifier(column) + " = " + quote_literal(value);
    };
    std::vector<std::string> conditions{is(shape_.id_column, id)};
    if (!inverse_) {
        return conditions;
    }
    std::string earlier_are_null;
    for (std::size_t which = 0; which < inverse_->alternatives().size(); ++which) {
        const auto& column = inverse_->alternatives()[which].column;
        if (const auto value = inverse_->value_of(id, which)) {
            conditions.push_back(is(column, *value) + earlier_are_null);
        }
        earlier_are_null += " AND " + quote_identifier(column) + " IS NULL";
    }
    return conditions;
}

awaitable<result<void>> table_rows::read(postgres::connection& sql, std::vector<std::string> ids,
                                         std::function<void(relay::replayed_row&&)> visit) {
    const auto rows = co_await postgres::rows_of_ids(sql, shape_, std::move(ids));
    if (!rows) {
        co_return rows.error();
    }
    ++revision_;
    for (std::size_t row = 0; row < rows->size(); ++row) {
        give(*rows, row, visit);
    }
    co_return result<void>{};
}

void table_rows::give(const postgres::row_set& rows, std::size_t row,
                      const std::function<void(relay::replayed_row&&)>& visit) {
    relation about{shape_.table.schema, shape_.table.name, {}, revision_};
    std::vector<field> fields;
    for (std::size_t index = 0; index < rows.column_names().size(); ++index) {
        const auto type = rows.column_types().at(index);
        about.columns.push_back({rows.column_names()[index], type});
        const auto& value = rows.at(row, index);
        // Table rows have "\x" in front of a bytea's digits, changes have not.
        fields.push_back(value && type == oid::bytea ? digits_of_bytea(*value) : field(value));
    }
    relay::replayed_row found{{}, {}, shape_.table, index_, {&about, fields}};
    found.event = relay::row_as_json(found.row);
    content_.clear(kept_row_bytes);
    found.content = &content_;
    if (found.event.size() + beside_the_row_bytes > max_row_bytes_) {
        found.row.too_large_bytes = found.event.size();
        found.event.clear();
    } else if (auto mapped = mapper_.map(found.row, content_); !mapped) {
        found.unmappable = mapped.error();
    }
    visit(std::move(found));
}

}  // namespace walrelay::tasks
