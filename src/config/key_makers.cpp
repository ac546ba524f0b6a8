// Rows of the table of keys.
#include "config/key_makers.hpp"

namespace walrelay::config {
namespace {

using std::chrono::milliseconds;

std::string shown_text(const std::string& text) {
    return text.empty() ? text : quoted(text);
}

std::string shown_list(const std::vector<std::string>& texts) {
    std::string shown;
    for (const std::string& text : texts) {
        shown += (shown.empty() ? "" : ", ") + quoted(text);
    }
    return '[' + shown + ']';
}

read_result<std::string> read_checked(const value& found, text_check check) {
    auto text = read_text(found);
    if (text) {
        if (const auto wrong = check(*text)) {
            return *wrong;
        }
    }
    return text;
}

std::vector<problem> store_list(const key_description& about, const value& found, text_check check,
                                std::vector<std::string>& to) {
    const auto elements = read_list(found);
    if (!elements) {
        return {problem_of(about, found, elements.error())};
    }
    if (elements->empty()) {
        return {problem_of(about, found, {"is empty", "give at least one, or remove the key"})};
    }
    std::vector<problem> problems;
    std::vector<std::string> texts;
    for (const value& element : *elements) {
        auto text = read_checked(element, check);
        if (text) {
            texts.push_back(*text);
        } else {
            problems.push_back(problem_of(about, element, text.error()));
        }
    }
    if (problems.empty()) {
        to = std::move(texts);
    }
    return problems;
}

}  // namespace

problem problem_of(const key_description& about, const value& found, complaint wrong) {
    return {found.where, std::string(about.section) + '.' + std::string(about.name),
            std::move(wrong.what), std::move(wrong.remedy)};
}

complaint no_choice(const std::string& text, const std::vector<std::string>& known) {
    std::string list;
    for (const std::string& name : known) {
        list += (list.empty() ? "" : ", ") + name;
    }
    return {quoted(text) + " is unknown here", "write one of " + list};
}

key text_key(key_description about, place<std::string> at, text_check check) {
    const auto read = [check](const value& found) { return read_checked(found, check); };
    return {about, value_kind::text, {}, storing(about, at, read), [at](const destination& from) {
                return shown_text(at(from));
            }};
}

key list_key(key_description about, place<std::vector<std::string>> at, text_check check) {
    const auto store = [=](const value& found, const destination& to) {
        return store_list(about, found, check, at(to));
    };
    return {about, value_kind::text_list, {}, store, [at](const destination& from) {
                return shown_list(at(from));
            }};
}

key boolean_key(key_description about, place<bool> at) {
    return {about,
            value_kind::boolean,
            {},
            storing(about, at, read_boolean),
            [at](const destination& from) { return std::string(at(from) ? "true" : "false"); }};
}

key duration_key(key_description about, place<milliseconds> at, bounds<milliseconds> allowed) {
    const auto read = [allowed](const value& found) { return read_duration(found, allowed); };
    return {
        about, value_kind::duration, {}, storing(about, at, read), [at](const destination& from) {
            return quoted(show(at(from)));
        }};
}

key size_key(key_description about, place<byte_size> at, bounds<byte_size> allowed) {
    const auto read = [allowed](const value& found) { return read_size(found, allowed); };
    return {about, value_kind::size, {}, storing(about, at, read), [at](const destination& from) {
                return quoted(show(at(from)));
            }};
}

key optional_duration_key(key_description about, place<std::optional<milliseconds>> at,
                          bounds<milliseconds> allowed) {
    const auto read = [allowed](const value& found) -> read_result<std::optional<milliseconds>> {
        const std::string* text = text_of(found);
        if (text != nullptr && text->empty()) {
            return std::nullopt;
        }
        const auto duration = read_duration(found, allowed);
        if (!duration) {
            return duration.error();
        }
        return *duration;
    };
    const auto shown = [at](const destination& from) {
        return at(from) ? quoted(show(*at(from))) : "";
    };
    return {about, value_kind::duration, {}, storing(about, at, read), shown};
}

}  // namespace walrelay::config
