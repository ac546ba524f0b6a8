// Looks after the positions that are kept for a replay, beside the relaying and only while this
// relay holds the slot.
#pragma once

#include "config/settings.hpp"
#include "tasks/kept_positions/keep_round.hpp"

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace walrelay::tasks {

class position_keeper {
public:
    /// Both must outlive it.
    position_keeper(boost::asio::io_context& io, const config::settings& settings)
        : io_(io), settings_(settings) {}
    ~position_keeper() { end(); }
    position_keeper(const position_keeper&) = delete;
    position_keeper& operator=(const position_keeper&) = delete;

    /// Before the first start().
    void be_watched_by(keep_watch watch) { watch_ = std::move(watch); }

    /// The slot is ours, on the server of this system, whose process `holder` sends to us.
    void start(std::uint64_t system_identifier, int holder);
    /// It may be another's.
    void pause();
    /// For good: a later start() does nothing.
    void end();

private:
    boost::asio::io_context& io_;
    const config::settings& settings_;
    keep_watch watch_;
    std::shared_ptr<keep_round> round_;
    bool ended_ = false;
};

}  // namespace walrelay::tasks
