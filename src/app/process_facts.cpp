#include "app/process_facts.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace walrelay::app {
namespace {

double seconds(const timeval& time) {
    constexpr double microseconds_in_a_second = 1e6;
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_usec) / microseconds_in_a_second;
}

/// Source: proc(5), /proc/self/statm.
std::uint64_t resident_bytes() {
    std::uint64_t all_pages = 0;
    std::uint64_t resident_pages = 0;
    std::ifstream("/proc/self/statm") >> all_pages >> resident_pages;
    return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t open_files() {
    std::error_code unknown;
    const std::filesystem::directory_iterator files("/proc/self/fd", unknown);
    // One of them is the look itself.
    const auto count = unknown ? 0 : std::distance(begin(files), end(files));
    return count > 0 ? static_cast<std::uint64_t>(count - 1) : 0;
}

}  // namespace

http::process_report read_process_facts() {
    http::process_report facts;
    rusage used{};
    if (::getrusage(RUSAGE_SELF, &used) == 0) {
        facts.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
    }
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
        facts.most_files = files.rlim_cur;
    }
    facts.resident_bytes = resident_bytes();
    facts.open_files = open_files();
    return facts;
}

}  // namespace walrelay::app
