// The clean-up of all tables that have delete_after, beside the relaying and only while this relay
// holds the slot.
#pragma once

#include "config/settings.hpp"
#include "core/cleanup_counts.hpp"
#include "core/error.hpp"
#include "outbox/id_inverse.hpp"
#include "postgres/catalog/partitions.hpp"
#include "tasks/cleanup/row_cleanup.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace walrelay::tasks {

class cleanup {
public:
    /// All must outlive it; `known` says what the relay knows of its own messages when it is asked.
    cleanup(boost::asio::io_context& io, const config::settings& settings, history_source known);
    /// Waits for blocking calls that are under way.
    ~cleanup();
    cleanup(const cleanup&) = delete;
    cleanup& operator=(const cleanup&) = delete;

    /// Before start(): what it does is counted there, by the tables of the settings. It must
    /// outlive the context. Otherwise nobody hears of it.
    void count_into(std::vector<cleanup_counts>& counts) { counts_ = &counts; }

    /// The slot is ours.
    void start();
    /// It may be another's.
    void pause();
    /// For good: a later start() does nothing.
    void end();

private:
    struct round;
    boost::asio::awaitable<void> run(std::shared_ptr<round> of);
    boost::asio::awaitable<result<void>> begin(std::shared_ptr<round> of);

    void begin_table(round& of, std::size_t index, std::optional<outbox::id_inverse> inverse,
                     const postgres::partition_facts& about);

    boost::asio::io_context& io_;
    const config::settings& settings_;
    history_source known_;
    std::vector<cleanup_counts> own_counts_;
    std::vector<cleanup_counts>* counts_ = &own_counts_;
    /// A thread for each table. Nothing where none is to be cleaned.
    std::optional<boost::asio::thread_pool> blocking_;
    std::shared_ptr<round> round_;
    bool ended_ = false;
};

}  // namespace walrelay::tasks
