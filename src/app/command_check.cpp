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

bool has(const std::vector<finding>& found, finding_severity what) {
    return std::ranges::any_of(found, [&](const finding& each) { return each.severity == what; });
}

/// Who does not know what forbids nothing looks for it.
const char* verdict_of(const std::vector<finding>& found) {
    if (has(found, finding_severity::error)) {
        return "";
    }
    if (has(found, finding_severity::warning)) {
        return "ok       nothing forbids to start; a warning says what is lost or risked without "
               "its fix\n";
    }
    return found.empty() ? "ok       both sides are ready\n"
                         : "ok       nothing forbids to start; a note says what comes\n";
}

void print_text(const std::vector<finding>& found) {
    std::string text;
    for (const auto& each : found) {
        text += fmt::format("{:<8} {}\n         {}\n", to_string(each.severity),
                            one_line(each.what), one_line(each.remedy));
    }
    text += verdict_of(found);
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
