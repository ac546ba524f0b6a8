#include "outbox/table_plan.hpp"

#include "core/ascii.hpp"
#include "core/percent.hpp"
#include "outbox/subject.hpp"

#include <algorithm>

namespace walrelay::outbox {
namespace {

bool is_letter_or_digit(char byte) {
    return is_letter(byte) || is_digit(byte);
}

/// RFC 7230, section 3.2.6: `token`, which NATS takes over (ADR-4).
bool is_header_name(std::string_view name) {
    static constexpr std::string_view others = "!#$%&'*+-.^_`|~";
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char byte) {
        return is_letter_or_digit(byte) || others.find(byte) != std::string_view::npos;
    });
}

/// RFC 3986, section 3.3: what a path segment can hold without encoding.
void append_path_segment(std::string& path, std::string_view name) {
    constexpr std::string_view others = "-._~!$&'()*+,;=:@";
    path += '/';
    for (const char byte : name) {
        if (is_letter_or_digit(byte) || others.find(byte) != std::string_view::npos) {
            path += byte;
        } else {
            append_percent_encoded(path, byte);
        }
    }
}

error about(const table_name& table, error failure) {
    failure.what = "table " + to_string(table) + ": " + failure.what;
    return failure;
}

result<void> check_header_name(std::string_view name) {
    if (!is_header_name(name)) {
        return error{errc::configuration_invalid,
                     "header \"" + std::string(name) + "\" is not a name that a header can have",
                     "use letters, digits and hyphens"};
    }
    const auto lowered = lower(name);
    if (lowered.find("nats-") != std::string::npos || lowered.starts_with("walrelay-")) {
        return error{errc::configuration_invalid,
                     "header \"" + std::string(name) + "\" has a reserved name",
                     "choose a name without Nats- and that does not begin with Walrelay-"};
    }
    return {};
}

result<header_plan> plan_header(const table_plan& plan, const std::string& name,
                                const std::string& value) {
    if (auto checked = check_header_name(name); !checked) {
        return checked.error();
    }
    if (sets_header(plan, name)) {
        return error{errc::configuration_invalid, "header \"" + name + "\" is set twice",
                     "keep one of the two; case makes no difference"};
    }
    auto parsed = text_template::parse("header " + name, value);
    if (!parsed) {
        return parsed.error();
    }
    return header_plan{name, std::move(*parsed)};
}

/// Only a header is left out where its value is missing.
error no_keys_in(const std::string& setting, const std::string& text) {
    return {errc::configuration_invalid,
            setting + " \"" + text + "\" names a member of a column, which only headers can have",
            "name a column; a generated one can hold the member"};
}

result<text_template> plan_subject(const std::string& text) {
    auto parsed = text_template::parse("subject", text);
    if (parsed) {
        if (parsed->has_keys()) {
            return no_keys_in("subject", text);
        }
        if (auto checked = check_subject(*parsed); !checked) {
            return checked.error();
        }
    }
    return parsed;
}

result<text_template> plan_message_id(const std::string& text) {
    auto parsed = text_template::parse("message_id", text);
    if (parsed && !parsed->has_names()) {
        return error{errc::configuration_invalid,
                     "message_id \"" + text +
                         "\" is the same for every row, so that the broker "
                         "would take all messages but the first for duplicates",
                     "name a column that identifies the row, such as {id}"};
    }
    if (parsed && parsed->has_keys()) {
        return no_keys_in("message_id", text);
    }
    if (parsed && parsed->has_otherwise()) {
        return error{errc::configuration_invalid,
                     "message_id \"" + text +
                         "\" gives all rows without a value the same id, so that the broker "
                         "would take all of their messages but the first for duplicates",
                     "name another column in place of the text in quotes, such as "
                     "{idempotency_key|id}"};
    }
    return parsed;
}

result<void> plan_templates(table_plan& plan, const outbox_table& table) {
    auto subject = plan_subject(table.subject);
    if (!subject) {
        return subject.error();
    }
    plan.subject = std::move(*subject);
    auto message_id = plan_message_id(table.message_id);
    if (!message_id) {
        return message_id.error();
    }
    plan.message_id = std::move(*message_id);
    for (const auto& [name, value] : table.headers) {
        auto header = plan_header(plan, name, value);
        if (!header) {
            return header.error();
        }
        plan.headers.push_back(std::move(*header));
    }
    return {};
}

}  // namespace

bool is_same_header(std::string_view one, std::string_view other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](char left, char right) { return lower(left) == lower(right); });
}

bool sets_header(const table_plan& plan, std::string_view name) {
    return std::any_of(plan.headers.begin(), plan.headers.end(),
                       [name](const header_plan& each) { return is_same_header(each.name, name); });
}

result<table_plan> make_plan(const outbox_table& table) {
    table_plan plan;
    plan.table = table.table;
    plan.message_prefix = table.message_prefix;
    plan.columns = table.columns;
    plan.body = table.body;
    plan.keeps_tombstones = table.keeps_tombstones;
    append_path_segment(plan.source, table.table.schema);
    append_path_segment(plan.source, table.table.name);
    plan.default_event_type = to_string(table.table);
    if (auto planned = plan_templates(plan, table); !planned) {
        return about(table.table, planned.error());
    }
    return plan;
}

}  // namespace walrelay::outbox
