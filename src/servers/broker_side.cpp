#include "servers/broker_side.hpp"

#include "core/stream_end.hpp"
#include "log/log.hpp"
#include "nats/requests/stream_request.hpp"
#include "nats/requests/stream_scan.hpp"
#include "relay/checkpoint/evidence.hpp"
#include "relay/intake/size_limits.hpp"
#include "servers/provisioning.hpp"
#include "servers/translate.hpp"
#include "servers/unfinished_search.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace walrelay::servers {
namespace {

boost::asio::awaitable<result<std::uint64_t>> describe(nats::connect_options to, std::string text) {
    co_return nats::set_description(to, text);
}

relay::removed_messages removed_from(const stream_facts& stream) {
    if (stream.removed_count() + stream.hole_count() == 0) {
        return relay::removed_messages::none;
    }
    if (stream.replaces_messages()) {
        return relay::removed_messages::replaced;
    }
    return stream.removed_count() > 0 ? relay::removed_messages::oldest
                                      : relay::removed_messages::none;
}

/// Reads from further and further back until it is far enough.
result<std::shared_ptr<const relay::stored_rows>> stored_in(
    const nats::connect_options& to, const relay::stored_rows_request& wanted,
    const std::stop_token& given_up) {
    const std::uint64_t first_look = wanted.margin + 8192;
    constexpr std::uint64_t growth = 8;
    auto scan = nats::stream_scan::open(to);
    if (!scan) {
        return scan.error();
    }
    const auto facts = scan->facts();
    const auto removed = removed_from(facts);
    for (auto count = first_look;; count *= growth) {
        const auto from = facts.last_sequence - std::min(count, facts.last_sequence) + 1;
        const bool from_the_beginning = from <= std::max<std::uint64_t>(facts.first_sequence, 1);
        const auto rows = std::make_shared<relay::stored_rows>(wanted);
        scan->begin_at(from);
        asked_message last;
        bool goes_beyond = false;
        auto read = scan->read([&](const nats::scanned_message& each) -> result<void> {
            if (given_up.stop_requested()) {
                return search_given_up(to.stream);
            }
            goes_beyond = each.sequence > facts.last_sequence;
            if (!goes_beyond) {
                const auto where = parse_position(each.position);
                rows->add(each.sequence, where, each.id);
                if (each.sequence == facts.last_sequence) {
                    last = {each.sequence, where, std::string(each.id)};
                }
            }
            return {};
        });
        if (!read) {
            return read.error();
        }
        if (goes_beyond && last.sequence == 0 && facts.last_message_there) {
            // A newer message of its subject has taken its place meanwhile.
            last = {facts.last_sequence, facts.final_position, facts.final_id};
            rows->add(last.sequence, last.where, last.id);
        }
        if (!ends_alike(facts, last)) {
            return ends_differ(to.stream);
        }
        if (from_the_beginning || rows->reaches_back()) {
            rows->end(from_the_beginning, removed);
            return std::shared_ptr<const relay::stored_rows>(rows);
        }
    }
}

boost::asio::awaitable<result<std::shared_ptr<const relay::stored_rows>>> look_for_stored(
    nats::connect_options to, relay::stored_rows_request wanted, std::stop_token given_up) {
    co_return stored_in(to, wanted, given_up);
}

boost::asio::awaitable<result<std::optional<nats::stream_glance>>> glance(
    nats::connect_options to) {
    co_return nats::glance_at(to);
}

boost::asio::awaitable<result<broker_facts>> look_at_facts(nats::connect_options to) {
    co_return nats::facts_of(to);
}

boost::asio::awaitable<result<asked_message>> look_at_message(nats::connect_options to) {
    co_return nats::message_of(to);
}

boost::asio::awaitable<std::vector<std::string>> look_for_streams(
    nats::connect_options to, std::vector<std::string> subjects) {
    co_return nats::streams_of(to, subjects);
}

boost::asio::awaitable<result<void>> hand_over(nats::connect_options to) {
    co_return nats::step_down(to);
}

/// A broker that does not answer is a broker that is away: there is nothing to allow.
error not_marked(const config::settings& settings, const error& why,
                 const relay::stream_owner& to_be) {
    const auto& stream = settings.nats.stream;
    const auto what = ": walrelay's mark in the description of stream " + stream;
    if (why.code == errc::broker_unavailable) {
        return {errc::broker_unavailable, why.what + what + " is not known to be written", "",
                why.server_said};
    }
    // Other words of the description stay out of the command: they can be anybody's, and a mark
    // holds nothing that a shell would take for more than text.
    return {errc::broker_lost,
            to_string({why.code, why.what, "", why.server_said}) + what + " cannot be written",
            "allow the user of nats.urls to publish to " + api_prefix_of(settings) +
                ".STREAM.UPDATE." + stream +
                ", or write it, in place of the mark that stands there: nats stream edit " +
                stream + " --description \"" + to_string(to_be) + "\""};
}

}  // namespace

std::optional<error> forbids_to_make(const config::settings& settings, const broker_facts& facts) {
    const auto findings = preflight::broker_findings(expectations_of(settings), facts);
    auto why = to_error(findings, errc::broker_unsuitable);
    return why ? std::move(why) : relay::leaves_no_room(facts, settings.nats.stream);
}

boost::asio::awaitable<result<std::unique_ptr<nats::connection>>> prepare_broker(
    boost::asio::any_io_executor executor, boost::asio::any_io_executor blocking,
    const config::settings& settings, std::uint64_t epoch, nats::connection_events events,
    missing_stream policy, wanted_messages which) {
    auto options = nats_options_of(settings);
    options.look_back = which.look_back;
    options.asks_for = which.asks_for;
    auto opened = co_await nats::connection::open(executor, blocking, std::move(options), epoch,
                                                  std::move(events));
    if (!opened) {
        co_return opened.error();
    }
    auto connection = std::move(*opened);
    if (!connection->facts().stream && policy == missing_stream::report) {
        co_return relay::stream_has_vanished(settings.nats.stream, settings.postgres.slot);
    }
    const bool makes = policy == missing_stream::create || policy == missing_stream::make_anew;
    if (!connection->facts().stream && makes) {
        // What forbids a first run forbids to make any.
        if (const auto forbids = forbids_to_make(settings, connection->facts())) {
            co_return *forbids;
        }
        const bool is_new_beginning = policy == missing_stream::make_anew;
        const auto looked = co_await look_before_making(executor, settings, is_new_beginning);
        if (!looked) {
            co_return looked.error();
        }
        const auto definition = stream_definition_of(settings);
        const auto made = co_await connection->create_stream(definition);
        if (!made) {
            co_return made.error();
        }
        log<"stream_created">(
            "created stream " + definition.name + " (file storage, limits retention)",
            with<"stream">(definition.name));
    }
    if (policy != missing_stream::leave) {
        const auto findings =
            preflight::broker_findings(expectations_of(settings), connection->facts());
        if (auto forbids = to_error(findings, errc::broker_unsuitable)) {
            co_return *forbids;
        }
    }
    co_return std::move(connection);
}

boost::asio::awaitable<result<std::shared_ptr<const relay::stored_rows>>> read_stored(
    executors on, const config::settings& settings, relay::stored_rows_request wanted) {
    const unfinished_search search(on.given_up, settings.nats.stream);
    auto to = nats_options_of(settings);
    auto looking = look_for_stored(std::move(to), std::move(wanted), on.given_up);
    co_return co_await boost::asio::co_spawn(on.blocking, std::move(looking),
                                             boost::asio::use_awaitable);
}

boost::asio::awaitable<result<asked_message>> message_of_stream(
    boost::asio::any_io_executor blocking, const config::settings& settings,
    std::uint64_t sequence) {
    auto to = nats_options_of(settings);
    to.asks_for = sequence;
    auto looking = look_at_message(std::move(to));
    co_return co_await boost::asio::co_spawn(blocking, std::move(looking),
                                             boost::asio::use_awaitable);
}

boost::asio::awaitable<result<std::optional<nats::stream_glance>>> glance_at_stream(
    boost::asio::any_io_executor blocking, const config::settings& settings) {
    auto to = nats_options_of(settings);
    auto looking = glance(std::move(to));
    co_return co_await boost::asio::co_spawn(blocking, std::move(looking),
                                             boost::asio::use_awaitable);
}

boost::asio::awaitable<result<broker_facts>> facts_of_broker(boost::asio::any_io_executor blocking,
                                                             const config::settings& settings) {
    auto to = nats_options_of(settings);
    auto looking = look_at_facts(std::move(to));
    co_return co_await boost::asio::co_spawn(blocking, std::move(looking),
                                             boost::asio::use_awaitable);
}

boost::asio::awaitable<std::optional<finding>> subjects_of_others(
    boost::asio::any_io_executor blocking, const config::settings& settings) {
    auto looking = look_for_streams(nats_options_of(settings), settings.nats.subjects);
    const auto others =
        co_await boost::asio::co_spawn(blocking, std::move(looking), boost::asio::use_awaitable);
    co_return others.empty()
        ? std::nullopt
        : std::optional(preflight::subjects_are_taken(expectations_of(settings), others));
}

boost::asio::awaitable<void> ask_to_step_down(boost::asio::any_io_executor blocking,
                                              const config::settings& settings) {
    auto to = nats_options_of(settings);
    auto stepping = hand_over(std::move(to));
    const auto done =
        co_await boost::asio::co_spawn(blocking, std::move(stepping), boost::asio::use_awaitable);
    if (!done) {
        log<"leader_not_moved">(
            to_string(done.error()) + ": the leader of stream " + settings.nats.stream +
                " does not hand over; the messages pass when its duplicate window is over, or "
                "after: nats stream cluster step-down " +
                settings.nats.stream,
            with<"stream">(settings.nats.stream), with<"error">(done.error().code));
    }
}

boost::asio::awaitable<result<stream_claim>> claim_stream(boost::asio::any_io_executor blocking,
                                                          const config::settings& settings,
                                                          relay::stream_owner owner,
                                                          relay::stream_owner to_be,
                                                          std::string description) {
    const auto text = relay::description_to_claim(owner, description);
    if (!text) {
        co_return stream_claim{std::move(description), std::nullopt};
    }
    auto to = nats_options_of(settings);
    auto describing = describe(std::move(to), *text);
    const auto done =
        co_await boost::asio::co_spawn(blocking, std::move(describing), boost::asio::use_awaitable);
    if (!done) {
        co_return not_marked(settings, done.error(), to_be);
    }
    const auto before = relay::owner_in(description);
    if (!before || before->system_identifier != owner.system_identifier) {
        log<"stream_marked">("marked stream " + settings.nats.stream + " as that of slot " +
                                 owner.slot + " of database " + owner.database +
                                 ", in its description",
                             with<"stream">(settings.nats.stream), with<"slot">(owner.slot),
                             with<"database">(owner.database));
    }
    co_return stream_claim{*text, *done};
}

}  // namespace walrelay::servers
