#include "tasks/find/aggregate_subject.hpp"

#include "outbox/subject.hpp"
#include "outbox/text_template.hpp"

#include <optional>
#include <string_view>

namespace walrelay::tasks {

std::string subject_of_aggregate(const outbox_table& table, const std::string& type,
                                 const std::string& id) {
    const auto form = outbox::text_template::parse("subject", table.subject);
    if (!form) {
        return "";
    }
    const auto type_column = table.columns.aggregate_type.value_or("aggregate_type");
    const auto id_column = table.columns.aggregate_id.value_or("aggregate_id");
    const auto pattern = [&](bool with_type, bool with_id) {
        return outbox::subject_pattern(
            *form, [&](std::string_view name) -> std::optional<std::string_view> {
                if (with_type && (name == "aggregate_type" || name == type_column)) {
                    return type;
                }
                const bool is_id = name == "aggregate_id" || name == id_column;
                return with_id && is_id ? std::optional<std::string_view>(id) : std::nullopt;
            });
    };
    auto subject = pattern(true, true);
    const bool is_told = subject != pattern(true, false) && subject != pattern(false, true);
    return is_told ? subject : "";
}

}  // namespace walrelay::tasks
