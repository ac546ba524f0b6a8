// The kinds of values that keys take: how one is read, where it goes, and how it is shown.
#pragma once

#include "config/checks.hpp"
#include "config/problem.hpp"
#include "config/quote.hpp"
#include "config/read.hpp"
#include "config/settings.hpp"
#include "core/joined.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace walrelay::config {

enum class value_kind { text, text_list, boolean, integer, duration, size, choice, table };

/// Where values go. A key of [[outbox]] goes to `table`, every other one to `all`.
struct destination {
    settings& all;
    outbox_table& table;
};

inline postgres_settings& part_of(const destination& to, postgres_settings*) {
    return to.all.postgres;
}
inline nats_settings& part_of(const destination& to, nats_settings*) {
    return to.all.nats;
}
inline tls_settings& part_of(const destination& to, tls_settings*) {
    return to.all.nats.tls;
}
inline delivery_settings& part_of(const destination& to, delivery_settings*) {
    return to.all.delivery;
}
inline replay_settings& part_of(const destination& to, replay_settings*) {
    return to.all.replay;
}
inline http_settings& part_of(const destination& to, http_settings*) {
    return to.all.http;
}
inline log_settings& part_of(const destination& to, log_settings*) {
    return to.all.log;
}
inline traces_settings& part_of(const destination& to, traces_settings*) {
    return to.all.traces;
}
inline outbox_table& part_of(const destination& to, outbox_table*) {
    return to.table;
}

/// One member of the settings, made from `&nats_settings::stream` and the like.
template <class Value>
struct place {
    template <class Part>
    place(Value Part::*member)
        : in([member](const destination& to) -> Value& {
              return part_of(to, static_cast<Part*>(nullptr)).*member;
          }) {}

    std::function<Value&(const destination&)> in;
};

/// Told once for each thing that is wrong: of which value, of which member of a table (may be
/// empty), and what.
using complain = std::function<void(const value&, const std::string& member, const complaint&)>;

struct kind {
    value_kind name;
    /// The texts of a choice.
    std::vector<std::string> accepted;
    /// Puts a value where it belongs, or says everything that is wrong with it and leaves the
    /// settings as they are.
    std::function<void(const value&, const destination&, const complain&)> store;
    /// The value in the notation of the file; empty where nothing is set. None for a kind that has
    /// no default.
    std::function<std::string(const destination&)> show;
};

/// A kind of a single value: `read` makes a read_result of a value, `show` a text of what it holds.
template <class Value, class Read, class Show>
[[nodiscard]] kind single(value_kind name, place<Value> at, Read read, Show show) {
    const auto store = [=](const value& found, const destination& to, const complain& wrong) {
        if (const auto got = read(found)) {
            at.in(to) = static_cast<Value>(*got);
        } else {
            wrong(found, "", got.error());
        }
    };
    return {name, {}, store, [=](const destination& from) { return show(at.in(from)); }};
}

[[nodiscard]] kind text(place<std::string> at, text_check check = check_nothing);
[[nodiscard]] kind texts(place<std::vector<std::string>> at, text_check check);
/// The same of servers: an item can name several, see config/url_list.
[[nodiscard]] kind urls(place<std::vector<std::string>> at);
[[nodiscard]] kind boolean(place<bool> at);
[[nodiscard]] kind duration(place<std::chrono::milliseconds> at, std::chrono::milliseconds least);
/// An empty text leaves it unset.
[[nodiscard]] kind duration(place<std::optional<std::chrono::milliseconds>> at,
                            std::chrono::milliseconds least);
[[nodiscard]] kind size(place<byte_size> at, bounds<byte_size> allowed);
/// An empty text leaves it unset.
[[nodiscard]] kind size(place<std::optional<byte_size>> at, bounds<byte_size> allowed);
[[nodiscard]] kind table_name_text(place<table_name> at);

/// Names and texts of an inline table.
using text_members = std::vector<std::pair<std::string, std::string>>;

/// `allowed` must fit into the integer.
template <class Part, class Integer>
[[nodiscard]] kind integer(Integer Part::*at, bounds<std::int64_t> allowed) {
    return single(
        value_kind::integer, place<Integer>(at),
        [allowed](const value& found) { return read_integer(found, allowed); },
        [](Integer number) { return std::to_string(number); });
}

/// A text of the file and the value that it stands for.
template <class Value>
using choices = std::vector<std::pair<std::string, Value>>;

template <class Part, class Value>
[[nodiscard]] kind choice(Value Part::*at, const std::type_identity_t<choices<Value>>& known) {
    std::vector<std::string> names;
    for (const auto& [name, meaning] : known) {
        names.push_back(name);
    }
    const auto read = [=](const value& found) -> read_result<Value> {
        const auto text = read_text(found);
        if (!text) {
            return text.error();
        }
        const auto meant = std::find_if(known.begin(), known.end(),
                                        [&](const auto& each) { return each.first == *text; });
        if (meant == known.end()) {
            return complaint{invalid_value + in_quotes(*text), "use one of " + joined(names)};
        }
        return meant->second;
    };
    const auto show = [=](const Value& held) {
        const auto same = [&](const auto& each) { return each.second == held; };
        return in_quotes(std::find_if(known.begin(), known.end(), same)->first);
    };
    kind made = single(value_kind::choice, place<Value>(at), read, show);
    made.accepted = std::move(names);
    return made;
}

/// Role and column name for each member.
[[nodiscard]] kind columns(place<outbox_columns> at);
/// Header name and template, in the order of the source.
[[nodiscard]] kind headers(place<text_members> at);
/// The same for requests to a collector; no problem quotes a value, which may be a secret.
[[nodiscard]] kind request_headers(place<text_members> at);
/// `column`, and `value` or `is`.
[[nodiscard]] kind republish(place<std::optional<republish_rule>> at);

}  // namespace walrelay::config
