// Tries publishes of which the server takes none: whether they are allowed, and whether its
// max_control_line lets their lines through. Nobody gets a message.
//
// Each has a reply subject that is the server's own (_R_.): a server looks at the right to publish,
// then refuses such a reply, and only then looks for who is to get the message. Source:
// nats-server, server/client.go, processInboundClientMsg. For what might not do so, each also
// expects a stream that there is not.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "nats/session/connect_options.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace walrelay::nats {

/// `subjects` one by one, then a line as long as walrelay's longest: a subject of
/// `subject_max_bytes`. Leaves a line on each in the server's log. Errors: those of open_session.
[[nodiscard]] boost::asio::awaitable<result<publish_trial>> try_publishes(
    boost::asio::any_io_executor executor, connect_options options,
    std::vector<std::string> subjects, std::size_t subject_max_bytes);

}  // namespace walrelay::nats
