#include "app/both_sides.hpp"
#include "app/colour.hpp"
#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "core/finding.hpp"
#include "core/json_string.hpp"
#include "core/one_line.hpp"
#include "servers/run_to_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;

void print_text(const std::vector<finding>& found) {
    std::string text = found.empty() ? "ok       both sides are ready\n" : "";
    for (const auto& each : found) {
        text += fmt::format("{:<8} {}\n         {}\n", to_string(each.severity),
                            one_line(each.what), one_line(each.remedy));
    }
    // Notes alone forbid nothing, and a reader who does not know that looks for a verdict.
    const bool only_notes = std::ranges::all_of(
        found, [](const finding& each) { return each.severity == finding_severity::note; });
    if (!found.empty() && only_notes) {
        text += "ok       nothing forbids to start; a note says what comes\n";
    }
    fmt::print("{}", for_output(std::move(text)));
}

void print_json(const std::vector<finding>& found, bool clean) {
    fmt::print(R"({{"clean":{},"findings":[)", clean);
    for (std::size_t index = 0; index < found.size(); ++index) {
        const auto& each = found[index];
        fmt::print(R"({}{{"code":"{}","severity":"{}","what":{},"fix":{}}})", index == 0 ? "" : ",",
                   each.code.text(), to_string(each.severity), json_string(each.what),
                   json_string(each.remedy));
    }
    fmt::print("]}}\n");
}

awaitable<int> look(servers::executors on, const config::settings& settings, bool json) {
    const auto found = co_await look_at_both_sides(on, settings);
    const bool clean = std::all_of(found.begin(), found.end(), [](const finding& each) {
        return each.severity == finding_severity::note;
    });
    json ? print_json(found, clean) : print_text(found);
    co_return clean ? exit_done : exit_findings;
}

}  // namespace

int command_check(const config::settings& settings, bool json) {
    return servers::run_to_end([&](servers::executors on) { return look(on, settings, json); });
}

}  // namespace walrelay::app
