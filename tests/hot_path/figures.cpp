#include "hot_path/figures.hpp"

#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace walrelay::test {
namespace {

constexpr std::chrono::minutes patience{2};

figure parse_figure(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
    if (words.size() < 3) {
        throw std::runtime_error("no figure: " + line);
    }
    figure read;
    read.instructions = std::stod(words.back());
    words.pop_back();
    read.allocations = std::stod(words.back());
    words.pop_back();
    read.words = std::move(words);
    return read;
}

command program_for(const figure& of) {
    command what;
    what.program = WALRELAY_HOT_PATH;
    what.arguments = {std::to_string(measured_events)};
    what.arguments.insert(what.arguments.end(), of.words.begin(), of.words.end());
    what.name = "hot_path";
    return what;
}

std::string output_of(command what) {
    const temporary_folder folder("hot_path");
    what.folder = folder.path();
    child_process running(what);
    const auto exit_code = running.wait_exit(patience);
    if (exit_code != 0) {
        throw std::runtime_error(what.program + " failed:\n" + running.standard_error());
    }
    return running.standard_output();
}

/// The number behind the first `label` at the beginning of a line.
double number_behind(std::istream&& text, const std::string& label) {
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with(label)) {
            return std::stod(line.substr(label.size()));
        }
    }
    throw std::runtime_error("no \"" + label + "\" was said");
}

/// glibc and simdjson choose their code by what the processor can do: here what all of them can.
void hold_to_the_least_processor(command& what) {
    what.environment = {
        {"SIMDJSON_FORCE_IMPLEMENTATION", "westmere"},
        {"GLIBC_TUNABLES",
         "glibc.cpu.hwcaps=-AVX2,-AVX,-AVX_Fast_Unaligned_Load,-AVX512F,-AVX512VL,-AVX512BW,-BMI2,"
         "-ERMS,-FSRM,-MOVBE,-LZCNT"},
    };
}

}  // namespace

std::string name_of(const figure& of, char separator) {
    std::string name;
    for (const auto& word : of.words) {
        name += (name.empty() ? "" : std::string(1, separator)) + word;
    }
    return name;
}

void PrintTo(const figure& of, std::ostream* out) {
    *out << name_of(of, ' ');
}

std::vector<figure> read_figures() {
    std::ifstream file(WALRELAY_HOT_PATH_FIGURES);
    std::vector<figure> figures;
    for (std::string line; std::getline(file, line);) {
        if (!line.empty() && !line.starts_with('#')) {
            figures.push_back(parse_figure(line));
        }
    }
    return figures;
}

double allocations_per_event(const figure& of) {
    std::istringstream said(output_of(program_for(of)));
    return number_behind(std::move(said), "allocations ") / measured_events;
}

profiled instructions_per_event(const figure& of) {
    auto what = program_for(of);
    const auto profile =
        std::filesystem::path(WALRELAY_PROFILES) / ("callgrind." + name_of(of, '-') + ".out");
    what.arguments.insert(what.arguments.begin(),
                          {"--tool=callgrind", "--toggle-collect=walrelay_hot_path_measured",
                           "--callgrind-out-file=" + profile.string(), what.program});
    what.program = "valgrind";
    hold_to_the_least_processor(what);
    static_cast<void>(output_of(what));
    return {number_behind(std::ifstream(profile), "totals: ") / measured_events, profile};
}

}  // namespace walrelay::test
