#include "harness/report.hpp"

#include "harness/targets.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace walrelay::bench {
namespace {

nlohmann::ordered_json as_json(const facts& about) {
    auto object = nlohmann::ordered_json::object();
    for (const auto& [name, value] : about) {
        object[name] = value;
    }
    return object;
}

void add_fact(facts& to, const std::string& name, const std::string& value) {
    const auto known =
        std::find_if(to.begin(), to.end(), [&](const auto& each) { return each.first == name; });
    if (known == to.end()) {
        to.emplace_back(name, value);
    } else if (known->second.find(value) == std::string::npos) {
        known->second += "; " + value;
    }
}

nlohmann::ordered_json content_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in) {
        throw std::runtime_error("cannot read " + file.string());
    }
    return nlohmann::ordered_json::parse(in);
}

}  // namespace

std::string text_of(const report& from, table_form form) {
    const bool markdown = form == table_form::markdown;
    std::string text = markdown ? "| | |\n|---|---|\n" : "";
    for (const auto& [name, value] : from.about) {
        text += markdown ? fmt::format("| {} | {} |\n", name, value)
                         : fmt::format("{:<12}{}\n", name, value);
    }
    if (const auto targets = targets_of(from.found, form); !targets.empty()) {
        text += '\n' + targets;
    }
    for (const auto& part : from.found.parts()) {
        text += '\n' + table_of(from.found, part, form);
    }
    for (const auto& note : from.found.notes()) {
        text += '\n' + note + '\n';
    }
    return text;
}

void save(const report& what, const std::filesystem::path& file) {
    auto unfinished = file;
    unfinished += ".unfinished";
    std::ofstream out(unfinished);
    const nlohmann::ordered_json content = {{"about", as_json(what.about)},
                                            {"notes", what.found.notes()},
                                            {"figures", what.found.to_json()}};
    out << content.dump(2) << '\n';
    if (!out.flush()) {
        throw std::runtime_error("cannot write " + unfinished.string());
    }
    std::filesystem::rename(unfinished, file);
}

void add_facts(report& into, const facts& about) {
    for (const auto& [name, value] : about) {
        add_fact(into.about, name, value);
    }
}

void add_file(report& into, const std::filesystem::path& file) {
    try {
        const auto content = content_of(file);
        for (const auto& [name, value] : content.at("about").items()) {
            add_fact(into.about, name, value);
        }
        for (const std::string note : content.at("notes")) {
            into.found.note(note);
        }
        into.found.add_json(content.at("figures"));
    } catch (const nlohmann::json::exception& reason) {
        throw std::runtime_error(file.string() +
                                 " is no file of --results, or not all of one: " + reason.what());
    }
}

}  // namespace walrelay::bench
