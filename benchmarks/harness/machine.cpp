#include "harness/machine.hpp"

#include "support/child_process.hpp"
#include "support/postgres_server.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>

namespace walrelay::bench {
namespace {

constexpr const char* unknown = "unknown";

/// The value behind the first line that begins with `name` and has a colon.
std::string value_in(const std::string& file, const std::string& name) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const auto colon = line.find(':');
        if (line.starts_with(name) && colon != std::string::npos) {
            const auto first = line.find_first_not_of(" \t", colon + 1);
            return first == std::string::npos ? unknown : line.substr(first);
        }
    }
    return unknown;
}

std::string memory() {
    constexpr double kib_in_gib = 1 << 20U;
    const auto total = value_in("/proc/meminfo", "MemTotal");
    return total == unknown ? total : fmt::format("{:.1f} GiB", std::stod(total) / kib_in_gib);
}

std::string kernel() {
    utsname name{};
    return uname(&name) == 0 ? fmt::format("{} {}", name.sysname, name.release) : unknown;
}

/// The first line that a program prints.
std::string line_of(const std::string& program, const std::vector<std::string>& arguments,
                    const std::filesystem::path& folder) {
    test::child_process process(
        {.program = program, .arguments = arguments, .folder = folder, .name = "version"});
    const auto code = process.wait_exit(std::chrono::seconds(10));
    const auto said = process.standard_output() + process.standard_error();
    std::filesystem::remove(folder / "version.stdout");
    std::filesystem::remove(folder / "version.stderr");
    return code == 0 ? said.substr(0, said.find('\n')) : unknown;
}

std::string now() {
    return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
}

}  // namespace

std::string version_of_nats(const std::string& program) {
    const test::temporary_folder folder("bench");
    const auto said =
        line_of(program.empty() ? "nats-server" : program, {"--version"}, folder.path());
    const auto begin = said.find_first_of("0123456789");
    return begin == std::string::npos ? said : said.substr(begin);
}

facts machine_and_versions(const std::filesystem::path& walrelay,
                           const std::filesystem::path& source) {
    const test::temporary_folder folder("bench");
    const auto& in = folder.path();
    const auto postgres = (test::postgres_binary_folder() / "postgres").string();
    const auto wal2json =
        line_of("dpkg-query", {"-W", "-f", "${Version} ${Package}\n", "postgresql-*-wal2json"}, in);
    return {
        {"date", now()},
        {"processor", value_in("/proc/cpuinfo", "model name")},
        {"cores", std::to_string(sysconf(_SC_NPROCESSORS_ONLN))},
        {"memory", memory()},
        {"kernel", kernel()},
        {"walrelay", line_of(walrelay, {"version"}, in)},
        {"commit",
         line_of("git", {"-C", source.string(), "describe", "--always", "--dirty", "--abbrev=12"},
                 in)},
        {"PostgreSQL", line_of(postgres, {"--version"}, in)},
        {"wal2json", wal2json},
        {"nats-server", line_of("nats-server", {"--version"}, in)},
        {"Node.js", line_of("node", {"--version"}, in)}};
}

}  // namespace walrelay::bench
