// Getting ready on the broker's side: connect, judge the stream, make it where it is missing.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "nats/connection.hpp"
#include "nats/requests/stream_request.hpp"
#include "relay/lane/stored_rows.hpp"
#include "relay/machine/stream_owner.hpp"
#include "servers/findings_error.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace walrelay::servers {

enum class missing_stream {
    /// No stream yet: make it.
    create,
    /// There was one a moment ago: an operator must know.
    report,
    /// Only looking.
    leave,
    /// An operator has said that it is a new beginning, or it is a copy: make it, whatever there
    /// was.
    make_anew,
};

/// Which messages of the stream are read besides the last; see nats/connect_options.
struct wanted_messages {
    std::uint64_t look_back = 0;
    std::uint64_t asks_for = 0;
};

/// A connection whose stream exists (unless it was to be left) and can be written to. Findings that
/// forbid that are an error, broker_unsuitable.
[[nodiscard]] boost::asio::awaitable<result<std::unique_ptr<nats::connection>>> prepare_broker(
    boost::asio::any_io_executor executor, boost::asio::any_io_executor blocking,
    const config::settings& settings, std::uint64_t epoch, nats::connection_events events,
    missing_stream policy, wanted_messages which = {});

/// What the stream has of the rows that the slot sends.
[[nodiscard]] boost::asio::awaitable<result<std::shared_ptr<const relay::stored_rows>>> read_stored(
    executors on, const config::settings& settings, relay::stored_rows_request wanted);

/// The message of this sequence, as read over a connection of its own.
[[nodiscard]] boost::asio::awaitable<result<asked_message>> message_of_stream(
    boost::asio::any_io_executor blocking, const config::settings& settings,
    std::uint64_t sequence);

/// The stream as it is now; nothing where there is none.
[[nodiscard]] boost::asio::awaitable<result<std::optional<nats::stream_glance>>> glance_at_stream(
    boost::asio::any_io_executor blocking, const config::settings& settings);

/// What the broker says of itself and of the stream now, over a connection of its own.
[[nodiscard]] boost::asio::awaitable<result<broker_facts>> facts_of_broker(
    boost::asio::any_io_executor blocking, const config::settings& settings);

/// Why the stream, which is still to be made, would be of no use: its subjects, or limits below any
/// message. Nothing where nothing shows.
[[nodiscard]] std::optional<error> forbids_to_make(const config::settings& settings,
                                                   const broker_facts& facts);

/// Where other streams have some of nats.subjects: beside them the configured one cannot be made.
/// Nothing where the broker does not tell.
[[nodiscard]] boost::asio::awaitable<std::optional<finding>> subjects_of_others(
    boost::asio::any_io_executor blocking, const config::settings& settings);

/// Asks the stream's leader to hand over. That it cannot be asked is told in the log.
[[nodiscard]] boost::asio::awaitable<void> ask_to_step_down(boost::asio::any_io_executor blocking,
                                                            const config::settings& settings);

struct stream_claim {
    /// The description as it is then.
    std::string description;
    /// What the stream ended with then; nothing where the description stayed as it was.
    std::optional<std::uint64_t> last_sequence;
};

/// Marks the stream as this owner's where its description is `description` and holds no words of
/// others. `to_be` is the mark that an operator is told to write where walrelay may not.
[[nodiscard]] boost::asio::awaitable<result<stream_claim>> claim_stream(
    boost::asio::any_io_executor blocking, const config::settings& settings,
    relay::stream_owner owner, relay::stream_owner to_be, std::string description);

}  // namespace walrelay::servers
