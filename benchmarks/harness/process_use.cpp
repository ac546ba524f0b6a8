#include "harness/process_use.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace walrelay::bench {

double processor_seconds(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    if (!std::getline(file, line)) {
        throw std::runtime_error("process " + std::to_string(process) +
                                 " is gone: no time to read");
    }
    // proc(5): the name in the second field may hold blanks; utime and stime are fields 14 and 15.
    constexpr int fields_before_times = 11;
    std::istringstream rest(line.substr(line.rfind(')') + 1));
    std::string skipped;
    for (int field = 0; field < fields_before_times; ++field) {
        rest >> skipped;
    }
    double user = 0;
    double system = 0;
    rest >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double processor_seconds_of_ended() {
    constexpr double microseconds_in_second = 1e6;
    rusage use{};
    getrusage(RUSAGE_CHILDREN, &use);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) +
               static_cast<double>(time.tv_usec) / microseconds_in_second;
    };
    return seconds(use.ru_utime) + seconds(use.ru_stime);
}

std::uint64_t peak_resident_bytes(pid_t process) {
    constexpr std::uint64_t bytes_in_kib = 1024;
    std::ifstream file("/proc/" + std::to_string(process) + "/status");
    for (std::string word; file >> word;) {
        if (std::uint64_t kib = 0; word == "VmHWM:" && file >> kib) {
            return kib * bytes_in_kib;
        }
    }
    throw std::runtime_error("process " + std::to_string(process) + " is gone: no memory to read");
}

}  // namespace walrelay::bench
