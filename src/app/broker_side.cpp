#include "app/broker_side.hpp"

#include "app/log.hpp"
#include "app/translate.hpp"
#include "nats/stream_request.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace walrelay::app {
namespace {

error vanished(const config::settings& settings) {
    return {errc::broker_unsuitable,
            "stream " + settings.nats.stream + " is gone; it was there before",
            "if it was deleted on purpose, walrelay init creates it again and the next start goes "
            "on from the slot; messages that only the old stream had are still in the table"};
}

boost::asio::awaitable<result<void>> describe(nats::connect_options to, std::string text) {
    co_return nats::set_description(to, text);
}

boost::asio::awaitable<result<void>> hand_over(nats::connect_options to) {
    co_return nats::step_down(to);
}

}  // namespace

boost::asio::awaitable<result<std::unique_ptr<nats::connection>>> prepare_broker(
    boost::asio::any_io_executor executor, boost::asio::any_io_executor blocking,
    const config::settings& settings, std::uint64_t epoch, nats::connection_events events,
    missing_stream policy, std::uint64_t look_back) {
    auto options = nats_options_of(settings);
    options.look_back = look_back;
    auto opened = co_await nats::connection::open(executor, blocking, std::move(options), epoch,
                                                  std::move(events));
    if (!opened) {
        co_return opened.error();
    }
    auto connection = std::move(*opened);
    if (!connection->facts().stream && policy == missing_stream::report) {
        co_return vanished(settings);
    }
    if (!connection->facts().stream && policy == missing_stream::create) {
        const auto definition = stream_definition_of(settings);
        const auto made = co_await connection->create_stream(definition);
        if (!made) {
            co_return made.error();
        }
        log_info("created stream " + definition.name + " (file storage, limits retention)");
    }
    if (policy != missing_stream::leave) {
        const auto findings =
            relay::broker_findings(expectations_of(settings), connection->facts());
        if (auto forbids = to_error(findings, errc::broker_unsuitable)) {
            co_return *forbids;
        }
    }
    co_return std::move(connection);
}

boost::asio::awaitable<void> ask_to_step_down(boost::asio::any_io_executor blocking,
                                              const config::settings& settings) {
    auto to = nats_options_of(settings);
    auto stepping = hand_over(std::move(to));
    const auto done =
        co_await boost::asio::co_spawn(blocking, std::move(stepping), boost::asio::use_awaitable);
    if (!done) {
        log_warning(to_string(done.error()) + ": the leader of stream " + settings.nats.stream +
                    " does not hand over; the messages pass when its duplicate window is over, or "
                    "after: nats stream cluster step-down " +
                    settings.nats.stream);
    }
}

boost::asio::awaitable<void> claim_stream(boost::asio::any_io_executor blocking,
                                          const config::settings& settings,
                                          relay::stream_owner owner, std::string description) {
    const auto text = relay::description_to_claim(owner, description);
    if (!text || !settings.nats.sole_writer) {
        co_return;
    }
    auto to = nats_options_of(settings);
    auto describing = describe(std::move(to), *text);
    const auto done =
        co_await boost::asio::co_spawn(blocking, std::move(describing), boost::asio::use_awaitable);
    if (done) {
        log_info("marked stream " + settings.nats.stream + " as that of slot " + owner.slot +
                 " of database " + owner.database + ", in its description");
        co_return;
    }
    log_warning(to_string(done.error()) + ": stream " + settings.nats.stream +
                " cannot be marked as that of slot " + owner.slot + " of database " +
                owner.database +
                ", so that a relay of another database which is pointed at it would not be "
                "noticed; to mark it: nats stream edit " +
                settings.nats.stream + " --description \"" + *text + "\"");
}

}  // namespace walrelay::app
