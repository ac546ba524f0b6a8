// See program_version.hpp.
#include "chaos/program_version.hpp"

#include "support/child_process.hpp"
#include "support/postgres_server.hpp"
#include "support/temporary_folder.hpp"

#include <algorithm>
#include <cstdlib>

namespace walrelay::chaos {

std::string version_of(const std::string& program) {
    const test::temporary_folder folder("version");
    test::child_process process(
        {.program = program, .arguments = {"--version"}, .folder = folder.path()});
    (void)process.wait_exit(std::chrono::seconds(10));
    const auto text = process.standard_output();
    const auto begin = std::min(text.find_first_of("0123456789"), text.size());
    return text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin);
}

std::string postgres_version_of(const std::filesystem::path& programs) {
    const auto folder = programs.empty() ? test::postgres_binary_folder() : programs;
    return version_of((folder / "postgres").string());
}

int major_version(const std::string& version) {
    return std::atoi(version.c_str());
}

}  // namespace walrelay::chaos
