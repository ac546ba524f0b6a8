#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "app/log.hpp"
#include "app/run_to_end.hpp"
#include "app/translate.hpp"
#include "app/verification.hpp"
#include "app/verify_report.hpp"

#include <fmt/format.h>

namespace walrelay::app {
namespace {

boost::asio::awaitable<int> compare(executors on, const config::settings& settings,
                                    const verify_options& options) {
    const auto compared = with_tables_only(settings);
    verification steps(on, compared, options);
    const auto done = co_await steps.run();
    if (!done) {
        log_error(to_string(done.error()));
        co_return exit_operator_needed;
    }
    const verify_names names{settings.nats.stream, settings.postgres.slot,
                             message_prefixes_of(settings)};
    fmt::print("{}", options.json ? json_of(*done, names) : text_of(*done, names));
    co_return done->report.clean() ? exit_done : exit_findings;
}

}  // namespace

int command_verify(const config::settings& settings, const verify_options& options) {
    return run_to_end([&](executors on) { return compare(on, settings, options); });
}

}  // namespace walrelay::app
