// A relay whose clock is wrong.
#pragma once

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

namespace walrelay::test {

/// The environment of a process whose clock is a minute and a half ahead: the wall clock alone.
[[nodiscard]] inline std::map<std::string, std::string> clock_ahead() {
    for (const auto& folder : std::filesystem::directory_iterator("/usr/lib")) {
        const auto library = folder.path() / "faketime" / "libfaketime.so.1";
        if (std::filesystem::exists(library)) {
            return {{"LD_PRELOAD", library.string()},
                    {"FAKETIME", "+90s"},
                    {"FAKETIME_DONT_FAKE_MONOTONIC", "1"},
                    {"DONT_FAKE_MONOTONIC", "1"}};
        }
    }
    throw std::runtime_error("libfaketime is not there: apt install faketime");
}

}  // namespace walrelay::test
