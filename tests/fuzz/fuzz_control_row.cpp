// Any row of walrelay.control is read, and what it adds to a message id is of one form, by which
// the id of the row can be had again.
#include "fuzz/require.hpp"
#include "outbox/id_inverse.hpp"
#include "relay/intake/control_row.hpp"

#include <fuzzer/FuzzedDataProvider.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace walrelay;
using fuzz::require;

constexpr std::array columns{"kind",          "slot",         "dead_letter", "retry",
                             "source_schema", "source_table", "event"};

bool is_of_the_form(std::string_view occasion) {
    return occasion.starts_with("retry-") &&
           occasion.find_first_not_of("0123456789-", sizeof "retry-" - 1) == std::string::npos;
}

void check_request(const relay::retry_request& request, const std::string& id) {
    require(is_of_the_form(request.occasion()), "an occasion is retry-<number>-<number>");
    const auto message_id = id + ";" + request.occasion();
    const auto row = outbox::row_of_message(message_id);
    require(row.again && row.id == id, "the id of the row is found again");
    const auto event = request.row();
    require(event.fields.size() == event.table->columns.size(), "each column has a field");
    for (const auto& each : event.fields) {
        fuzz::read_all(each.value_or(""));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzedDataProvider input(data, size);
    const auto is_null = input.ConsumeIntegral<std::uint8_t>();
    relation table{"walrelay", "control", {}, 1};
    std::vector<std::string> values;
    for (const auto* name : columns) {
        table.columns.push_back({name, 0});
        values.push_back(input.ConsumeRandomLengthString());
    }
    std::vector<field> fields;
    for (std::size_t index = 0; index < values.size(); ++index) {
        fields.push_back((is_null >> index) % 2 == 0 ? field(values[index]) : std::nullopt);
    }
    auto request =
        relay::retry_request::parse(relay::read_control({&table, fields}), table.revision + 1);
    if (!request) {
        require(request.error().code == errc::row_unmappable, "one kind of error");
        return 0;
    }
    const auto moved = std::move(*request);
    check_request(moved, values.front());
    return 0;
}
