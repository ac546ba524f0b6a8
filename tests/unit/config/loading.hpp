// Helpers for tests of the configuration: load a text, list the problems line by line.
#pragma once

#include "config/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace walrelay::config {

/// The least that a configuration must have; stands before what a test is about, on lines 1 to 4.
inline const std::string essentials =
    "[postgres]\n"
    "conninfo = \"dbname=app\"\n"
    "[[outbox]]\n"
    "table = \"public.events\"\n";

/// The same as flags, for tests that want the file or the environment for themselves.
inline const flag_values essential_flags = {{"postgres.conninfo", "dbname=app"},
                                            {"outbox.table", "public.events"}};

inline sources from_file(std::string text) {
    return {std::move(text), "walrelay.toml", {}, {}};
}

inline sources from_variables(environment variables) {
    return {std::nullopt, "", std::move(variables), essential_flags};
}

/// One line for each problem; empty if there is none.
inline std::vector<std::string> problems_of(const sources& from) {
    std::vector<std::string> lines;
    const auto loaded = load(from);
    if (!loaded) {
        for (const problem& found : loaded.error()) {
            lines.push_back(to_string(found));
        }
    }
    return lines;
}

/// Problems of the essentials and what follows them; its first line is line 5.
inline std::vector<std::string> problems_beside_essentials(const std::string& text) {
    return problems_of(from_file(essentials + text));
}

/// The settings; the test fails with the problems if there are any.
inline settings must_load(const sources& from) {
    auto loaded = load(from);
    EXPECT_THAT(problems_of(from), testing::IsEmpty());
    return loaded ? *loaded : settings{};
}

inline settings must_load_beside_essentials(const std::string& text) {
    return must_load(from_file(essentials + text));
}

}  // namespace walrelay::config
