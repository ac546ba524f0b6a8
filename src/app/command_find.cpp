#include "app/colour.hpp"
#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "app/fail.hpp"
#include "servers/run_to_end.hpp"
#include "tasks/find/event_search.hpp"
#include "tasks/find/find_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace walrelay::app {
namespace {

boost::asio::awaitable<int> look(servers::executors on, const config::settings& settings,
                                 const tasks::find_options& options) {
    tasks::event_search search(on, settings, options);
    const auto found = co_await search.run();
    if (!found) {
        const auto code = fail(found.error());
        co_return found.error().code == errc::configuration_invalid ? int{exit_usage} : code;
    }
    fmt::print("{}", options.json ? tasks::json_of(*found) : for_output(tasks::text_of(*found)));
    const bool is_settled = !found->events.empty() &&
                            std::ranges::all_of(found->events, [](const tasks::event_trace& each) {
                                return tasks::is_settled(each.what);
                            });
    co_return is_settled ? exit_done : exit_findings;
}

}  // namespace

int command_find(const config::settings& settings, const tasks::find_options& options) {
    return servers::run_to_end([&](servers::executors on) { return look(on, settings, options); });
}

}  // namespace walrelay::app
