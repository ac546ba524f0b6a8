#include "app/colour.hpp"
#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "log/log.hpp"
#include "servers/run_to_end.hpp"
#include "servers/translate.hpp"
#include "tasks/verify/verification.hpp"
#include "tasks/verify/verify_report.hpp"

#include <fmt/format.h>

namespace walrelay::app {
namespace {

boost::asio::awaitable<int> compare(servers::executors on, const config::settings& settings,
                                    const tasks::verify_options& options) {
    const auto compared = servers::with_tables_only(settings);
    tasks::verification steps(on, compared, options);
    const auto done = co_await steps.run();
    if (!done) {
        log<"command_failed">(to_string(done.error()), with<"error">(done.error().code));
        co_return exit_operator_needed;
    }
    const tasks::verify_names names{settings.nats.stream, settings.postgres.slot,
                                    servers::message_prefixes_of(settings)};
    fmt::print("{}", options.json ? tasks::json_of(*done, names)
                                  : for_output(tasks::text_of(*done, names)));
    co_return done->clean() ? exit_done : exit_findings;
}

}  // namespace

int command_verify(const config::settings& settings, const tasks::verify_options& options) {
    return servers::run_to_end(
        [&](servers::executors on) { return compare(on, settings, options); });
}

}  // namespace walrelay::app
