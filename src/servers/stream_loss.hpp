// Whether a stream still has what walrelay.witness names, for commands that run beside no relay.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/witness.hpp"
#include "relay/checkpoint/evidence.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

namespace walrelay::servers {

/// The stream, which was looked at before, as relay::judge_stream wants it. The message that the
/// witness names is read where the stream's end does not tell, so that the verdict is never `ask`.
/// Errors: of the broker, with which nothing is known.
[[nodiscard]] boost::asio::awaitable<result<relay::stream_evidence>> evidence_for(
    executors on, const config::settings& settings, const witness& known,
    const stream_facts& stream);

}  // namespace walrelay::servers
