// Connections of nats.c with its blocking calls, for all that is not a publish. Only for the .cpp
// files of this folder.
#pragma once

#include "core/error.hpp"
#include "nats/requests/handles.hpp"
#include "nats/requests/request_tunnel.hpp"
#include "nats/session/connect_options.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace walrelay::nats {

/// A connection of the library's, over a session of walrelay's own.
class connection_handle {
public:
    connection_handle() = default;
    connection_handle(std::unique_ptr<request_tunnel> over, natsConnection* opened)
        : over_(std::move(over)), opened_(opened) {}

    [[nodiscard]] natsConnection* get() const { return opened_.get(); }

private:
    std::unique_ptr<request_tunnel> over_;  // outlives what goes through it
    std::unique_ptr<natsConnection, deleter<natsConnection_Destroy>> opened_;
};

/// Connects, on the calling thread. The library never reconnects, and prints nothing. Errors: those
/// of open_session.
[[nodiscard]] result<connection_handle> connect_blocking(const connect_options& to);

/// What the broker said of a request that is not permitted: it is not answered, the refusal is an
/// event of the connection.
[[nodiscard]] std::optional<std::string> refusal_of(natsConnection* connection);

/// Why a request failed: what the broker refused explains more than that nothing came back.
[[nodiscard]] error cause_of(natsConnection* connection, const connect_options& options,
                             const error& failure);

/// broker_unavailable with the library's words.
[[nodiscard]] error unavailable(std::string what, natsStatus status);
/// nats.c takes an answer that lacks members for one: whoever may subscribe to the API's subjects
/// can give it.
[[nodiscard]] error no_answer_of_jetstream(const std::string& about);

}  // namespace walrelay::nats
