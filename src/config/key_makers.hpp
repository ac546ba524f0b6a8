// Rows of the table of keys, made from a place in the settings and the kind of value it takes.
#pragma once

#include "config/checks.hpp"
#include "config/keys.hpp"
#include "config/quote.hpp"
#include "config/read.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::config {

template <class Value>
using place = Value& (*)(const destination&);

/// A text of the file and the value that it stands for.
template <class Value>
using choices = std::vector<std::pair<std::string, Value>>;

[[nodiscard]] problem problem_of(const key_description& about, const value& found, complaint wrong);

/// A text that is not a choice; the remedy lists those that are.
[[nodiscard]] complaint no_choice(const std::string& text, const std::vector<std::string>& known);

/// A key of any kind: `read` is a function of value to read_result<Value>.
template <class Value, class Read>
[[nodiscard]] auto storing(key_description about, place<Value> at, Read read) {
    return [=](const value& found, const destination& to) -> std::vector<problem> {
        auto got = read(found);
        if (!got) {
            return {problem_of(about, found, got.error())};
        }
        at(to) = static_cast<Value>(std::move(*got));
        return {};
    };
}

[[nodiscard]] key text_key(key_description about, place<std::string> at,
                           text_check check = check_nothing);
[[nodiscard]] key list_key(key_description about, place<std::vector<std::string>> at,
                           text_check check);
[[nodiscard]] key boolean_key(key_description about, place<bool> at);
[[nodiscard]] key duration_key(key_description about, place<std::chrono::milliseconds> at,
                               bounds<std::chrono::milliseconds> allowed);
[[nodiscard]] key size_key(key_description about, place<byte_size> at, bounds<byte_size> allowed);

/// A duration without a default; an empty text leaves it unset.
[[nodiscard]] key optional_duration_key(key_description about,
                                        place<std::optional<std::chrono::milliseconds>> at,
                                        bounds<std::chrono::milliseconds> allowed);

/// `allowed` must fit into Integer.
template <class Integer>
[[nodiscard]] key integer_key(key_description about, place<Integer> at,
                              bounds<std::int64_t> allowed) {
    const auto read = [allowed](const value& found) { return read_integer(found, allowed); };
    return {
        about, value_kind::integer, {}, storing(about, at, read), [at](const destination& from) {
            return std::to_string(at(from));
        }};
}

template <class Value>
[[nodiscard]] std::vector<std::string> texts_of(const choices<Value>& known) {
    std::vector<std::string> texts;
    for (const auto& [text, meaning] : known) {
        texts.push_back(quoted(text));
    }
    return texts;
}

template <class Value>
[[nodiscard]] key choice_key(key_description about, place<Value> at, choices<Value> known) {
    const auto texts = texts_of(known);
    const auto read = [=](const value& found) -> read_result<Value> {
        const auto text = read_text(found);
        if (!text) {
            return text.error();
        }
        for (const auto& [name, meaning] : known) {
            if (name == *text) {
                return meaning;
            }
        }
        return no_choice(*text, texts);
    };
    const auto show = [=](const destination& from) {
        const auto same = [&](const auto& choice) { return choice.second == at(from); };
        return quoted(std::find_if(known.begin(), known.end(), same)->first);
    };
    return {about, value_kind::choice, texts, storing(about, at, read), show};
}

}  // namespace walrelay::config
