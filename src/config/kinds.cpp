// The kinds of values that keys take.
#include "config/kinds.hpp"

#include "config/identifier.hpp"
#include "config/keys.hpp"
#include "config/url_list.hpp"
#include "core/column_role.hpp"
#include "core/nearest.hpp"

#include <map>

namespace walrelay::config {
namespace {

using std::chrono::milliseconds;

read_result<std::string> read_checked(const value& found, text_check check) {
    auto text = read_text(found);
    if (text) {
        if (const auto wrong = check(*text)) {
            return *wrong;
        }
    }
    return text;
}

using member_check = std::optional<complaint> (*)(const std::string& name, const std::string& text);

/// Every member that is well; nothing if any is not. `remedy` is for what is no table.
std::optional<text_members> read_members(
    const value& found, member_check check, const complain& wrong,
    const char* remedy = "write it in braces, such as { name = \"text\" }") {
    const auto* table = std::get_if<value_table>(&found.data);
    if (table == nullptr) {
        wrong(found, "", expected("a table of strings", found, remedy));
        return std::nullopt;
    }
    text_members members;
    for (const member& each : *table) {
        const auto text = read_text(each.held);
        if (auto bad = check(each.name, text ? *text : "?")) {
            wrong(each.held, each.name, *bad);
        } else if (!text) {
            wrong(each.held, each.name, text.error());
        } else {
            members.emplace_back(each.name, *text);
        }
    }
    return members.size() == table->size() ? std::optional(std::move(members)) : std::nullopt;
}

std::optional<complaint> check_role(const std::string& name, const std::string& text) {
    if (!role_named(name)) {
        std::vector<std::string> known;
        known.reserve(all_roles.size());
        for (const auto role : all_roles) {
            known.emplace_back(to_string(role));
        }
        const auto meant = nearest(name, known);
        return complaint{"is not a role of a column",
                         meant ? "write " + *meant + ", or remove it"
                               : "remove it; a template may name any column without giving it a "
                                 "role"};
    }
    // Of the others an empty name says that no column plays the role.
    return text.empty() && name == "id"
               ? std::optional(complaint{"names no column",
                                         "write the name of the column, or remove the "
                                         "role"})
               : std::nullopt;
}

constexpr const char* like_a_rule = R"(write it like { column = "status", value = "pending" } or )"
                                    R"({ column = "sent_at", is = "null" })";

std::optional<complaint> check_rule_member(const std::string& name, const std::string& text) {
    if (name != "column" && name != "value" && name != "is") {
        return complaint{"is not a member of it", like_a_rule};
    }
    if (name == "is" && text != "null") {
        return complaint{"can only be \"null\"", like_a_rule};
    }
    return name == "column" && text.empty()
               ? std::optional(complaint{"names no column", like_a_rule})
               : std::nullopt;
}

/// What is unset by an empty text.
template <class Value, class Read>
kind unless_empty(value_kind name, place<std::optional<Value>> at, Read read_value) {
    const auto read = [read_value](const value& found) -> read_result<std::optional<Value>> {
        const std::string* text = text_of(found);
        if (text != nullptr && text->empty()) {
            return std::optional<Value>();
        }
        const auto held = read_value(found);
        return held ? read_result<std::optional<Value>>(*held) : held.error();
    };
    return single(name, std::move(at), read, [](std::optional<Value> held) {
        return held ? in_quotes(show(*held)) : std::string();
    });
}

}  // namespace

kind text(place<std::string> at, text_check check) {
    return single(
        value_kind::text, std::move(at),
        [check](const value& found) { return read_checked(found, check); },
        [](const std::string& held) { return held.empty() ? held : in_quotes(held); });
}

namespace {

/// Items of a list that can name several servers, as one value each.
read_result<value_list> read_urls(const value& of) {
    if (const auto* plain = std::get_if<plain_text>(&of.data)) {
        value_list found;
        for (auto& each : split_urls(plain->text)) {
            found.push_back({of.where, plain_text{std::move(each)}});
        }
        return found;
    }
    const auto items = read_list(of);
    if (!items) {
        return items.error();
    }
    value_list found;
    for (const value& item : *items) {
        const std::string* text = text_of(item);
        if (text == nullptr || text->empty()) {
            found.push_back(item);
            continue;
        }
        for (auto& each : split_urls(*text)) {
            found.push_back({item.where, std::move(each)});
        }
    }
    return found;
}

kind list_of_texts(place<std::vector<std::string>> at, text_check check,
                   read_result<value_list> (*read_items)(const value&)) {
    const auto store = [=](const value& found, const destination& to, const complain& wrong) {
        const auto elements = read_items(found);
        if (!elements || elements->empty()) {
            return wrong(found, "",
                         elements ? complaint{"is empty", "give at least one, or remove the key"}
                                  : elements.error());
        }
        std::vector<std::string> read;
        for (const value& element : *elements) {
            if (auto text = read_checked(element, check)) {
                read.push_back(*text);
            } else {
                wrong(element, "", text.error());
            }
        }
        if (read.size() == elements->size()) {
            at.in(to) = std::move(read);
        }
    };
    const auto show = [at](const destination& from) {
        std::vector<std::string> shown = at.in(from);
        std::transform(shown.begin(), shown.end(), shown.begin(), in_quotes);
        return shown.empty() ? std::string() : '[' + joined(shown) + ']';
    };
    return {value_kind::text_list, {}, store, show};
}

}  // namespace

kind texts(place<std::vector<std::string>> at, text_check check) {
    return list_of_texts(std::move(at), check, read_list);
}

kind urls(place<std::vector<std::string>> at) {
    return list_of_texts(std::move(at), check_url, read_urls);
}

kind boolean(place<bool> at) {
    return single(value_kind::boolean, std::move(at), read_boolean,
                  [](bool held) { return std::string(held ? "true" : "false"); });
}

kind duration(place<milliseconds> at, milliseconds least) {
    return single(
        value_kind::duration, std::move(at),
        [least](const value& found) { return read_duration(found, least); },
        [](milliseconds held) { return in_quotes(show(held)); });
}

kind duration(place<std::optional<milliseconds>> at, milliseconds least) {
    const auto read = [least](const value& found) { return read_duration(found, least); };
    return unless_empty<milliseconds>(value_kind::duration, std::move(at), read);
}

kind size(place<byte_size> at, bounds<byte_size> allowed) {
    return single(
        value_kind::size, std::move(at),
        [allowed](const value& found) { return read_size(found, allowed); },
        [](byte_size held) { return in_quotes(show(held)); });
}

kind size(place<std::optional<byte_size>> at, bounds<byte_size> allowed) {
    const auto read = [allowed](const value& found) { return read_size(found, allowed); };
    return unless_empty<byte_size>(value_kind::size, std::move(at), read);
}

kind table_name_text(place<table_name> at) {
    const auto read = [](const value& found) -> read_result<table_name> {
        const auto text = read_text(found);
        if (!text) {
            return text.error();
        }
        return read_table_name(*text);
    };
    return single(value_kind::text, std::move(at), read, [](const table_name&) { return ""; });
}

kind columns(place<outbox_columns> at) {
    const auto store = [at](const value& found, const destination& to, const complain& wrong) {
        if (const auto members = read_members(found, check_role, wrong)) {
            at.in(to) = {};
            for (const auto& [name, column] : *members) {
                configured_column(at.in(to), *role_named(name)) = column;
            }
        }
    };
    return {value_kind::table, {}, store, {}};
}

namespace {

kind headers_with(place<text_members> at, member_check check) {
    const auto store = [=](const value& found, const destination& to, const complain& wrong) {
        if (auto members = read_members(found, check, wrong)) {
            at.in(to) = std::move(*members);
        }
    };
    return {value_kind::table, {}, store, {}};
}

}  // namespace

kind headers(place<text_members> at) {
    return headers_with(std::move(at), [](const std::string& name, const std::string&) {
        return check_header_name(name);
    });
}

kind request_headers(place<text_members> at) {
    return headers_with(std::move(at), check_request_header);
}

kind republish(place<std::optional<republish_rule>> at) {
    const auto store = [at](const value& found, const destination& to, const complain& wrong) {
        const auto members = read_members(found, check_rule_member, wrong, like_a_rule);
        if (!members) {
            return;
        }
        const std::map<std::string, std::string> named(members->begin(), members->end());
        const auto value = named.find("value");
        const bool has_value = value != named.end();
        if (!named.contains("column")) {
            wrong(found, "", {"has no column", like_a_rule});
        } else if (has_value == named.contains("is")) {
            wrong(found, "",
                  {has_value ? "has both value and is" : "has neither value nor is", like_a_rule});
        } else {
            at.in(to) = republish_rule{named.at("column"),
                                       has_value ? std::optional(value->second) : std::nullopt};
        }
    };
    return {value_kind::table, {}, store, {}};
}

}  // namespace walrelay::config
