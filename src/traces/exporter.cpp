#include "traces/exporter.hpp"

#include "core/one_line.hpp"
#include "traces/span_of.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace walrelay::traces {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds answer_time{5};
constexpr std::chrono::seconds last_flush_time{1};
/// Before the second try of a batch, and before the third and last.
constexpr std::array pauses{std::chrono::milliseconds{1000}, std::chrono::milliseconds{2000}};
constexpr std::size_t named_bytes_max = 200;

enum class fate { taken, refused, try_again };

/// Source: OpenTelemetry Protocol Specification, "Retryable Response Codes".
fate fate_of(unsigned status) {
    constexpr std::array<unsigned, 4> passing{429, 502, 503, 504};
    if (status >= 200 && status < 300) {
        return fate::taken;
    }
    return std::ranges::find(passing, status) != passing.end() ? fate::try_again : fate::refused;
}

/// Of what collectors say beside the status only the beginning is of use.
std::string words_of(const collector_reply& reply) {
    const auto said = one_line(reply.body, named_bytes_max);
    return "it answers with HTTP status " + std::to_string(reply.status) +
           (said.empty() ? "" : " (server: " + said + ")");
}

}  // namespace

struct exporter::state {
    state(collector_url url, header_list with, origin common)
        : where(std::move(url)), headers(std::move(with)), of(std::move(common)) {}

    void run();
    void deliver(const std::vector<span>& batch);
    fate try_to_deliver(const std::string& body, std::uint64_t& rejected);
    std::optional<collector_reply> ask(const std::string& body);
    [[nodiscard]] bool is_stopping() const { return stop_by.load() != clock::duration::max(); }
    [[nodiscard]] clock::time_point not_after(clock::time_point when) const {
        return std::min(when, clock::time_point(stop_by.load()));
    }
    void count(trace_result what, std::uint64_t spans) {
        counts.at(static_cast<std::size_t>(what)) += spans;
    }

    const collector_url where;
    const header_list headers;
    const origin of;
    span_queue queue;
    std::array<std::atomic<std::uint64_t>, trace_result_count> counts{};
    /// Since the clock's epoch; the greatest one before the end.
    std::atomic<clock::duration> stop_by = clock::duration::max();

    /// Why spans do not get through; nothing while they do.
    std::mutex guard;
    std::optional<std::string> trouble;

    // Of the thread alone; io also takes what wakes it.
    asio::io_context io{1};
    std::shared_ptr<collector_link> link;
    std::vector<std::weak_ptr<collector_link>> given_up;
    std::string why;
};

std::optional<collector_reply> exporter::state::ask(const std::string& body) {
    if (!link || !link->is_open()) {
        link = std::make_shared<collector_link>(io, where, headers);
    }
    const auto reply = std::make_shared<std::optional<collector_reply>>();
    asio::co_spawn(io, link->post(body),
                   [reply](const std::exception_ptr& thrown, collector_reply found) {
                       if (thrown) {
                           found.failure = asio::error::no_memory;
                       }
                       *reply = std::move(found);
                   });
    const auto by = clock::now() + answer_time;
    io.restart();
    while (!*reply && clock::now() < not_after(by)) {
        io.run_one_until(not_after(by));
    }
    if (!*reply) {
        link->close();
        given_up.emplace_back(std::exchange(link, nullptr));
    }
    return std::move(*reply);
}

fate exporter::state::try_to_deliver(const std::string& body, std::uint64_t& rejected) {
    auto reply = ask(body);
    if (reply && reply->failure && reply->was_reused) {
        reply = ask(body);
    }
    if (!reply) {
        why = "it does not answer";
        return fate::try_again;
    }
    if (reply->failure) {
        why = one_line(reply->failure.message(), named_bytes_max);
        return fate::try_again;
    }
    const auto becomes = fate_of(reply->status);
    if (becomes == fate::taken) {
        rejected = rejected_spans(reply->body);
    } else {
        why = words_of(*reply);
    }
    return becomes;
}

void exporter::state::deliver(const std::vector<span>& batch) {
    const auto body = otlp_json(of, batch);
    std::uint64_t rejected = 0;
    auto becomes = try_to_deliver(body, rejected);
    for (const auto pause : pauses) {
        if (becomes != fate::try_again || is_stopping()) {
            break;
        }
        queue.pause(pause);
        becomes = try_to_deliver(body, rejected);
    }
    const bool is_taken = becomes == fate::taken;
    const auto lost = is_taken ? std::min<std::uint64_t>(rejected, batch.size()) : batch.size();
    count(trace_result::exported, batch.size() - lost);
    count(trace_result::failed, lost);
    const std::lock_guard lock(guard);
    trouble = is_taken ? std::nullopt : std::optional(why);
}

void exporter::state::run() {
    for (auto batch = queue.take_batch(); !batch.empty(); batch = queue.take_batch()) {
        try {
            deliver(batch);
        } catch (const std::exception& unforeseen) {
            count(trace_result::failed, batch.size());
            const std::lock_guard lock(guard);
            trouble = one_line(unforeseen.what(), named_bytes_max);
        }
        std::erase_if(given_up, [](const auto& each) { return each.expired(); });
    }
}

exporter::exporter(collector_url where, header_list headers, origin of)
    : state_(std::make_shared<state>(std::move(where), std::move(headers), std::move(of))) {
    std::random_device seed;
    std::seed_seq words{seed(), seed(), seed(), seed()};
    random_.seed(words);
    try {
        thread_ = std::thread([shared = state_] { shared->run(); });
    } catch (const std::system_error& none) {
        state_->queue.close();
        state_->trouble = one_line(none.what(), named_bytes_max);
    }
}

exporter::~exporter() {
    stop();
}

void exporter::acked(const acked_message& what) noexcept {
    try {
        auto made = span_of(what);
        if (!made) {
            return;
        }
        while (made->id == 0) {
            made->id = random_();
        }
        if (!state_->queue.push(std::move(*made))) {
            state_->count(trace_result::dropped, 1);
        }
    } catch (const std::exception&) {
        // No memory for it.
        state_->count(trace_result::dropped, 1);
    }
}

trace_counts exporter::counts() const {
    trace_counts now{};
    std::ranges::transform(state_->counts, now.begin(),
                           [](const auto& each) { return each.load(); });
    return now;
}

std::optional<log_entry> exporter::line_due() {
    std::optional<std::string> trouble;
    {
        const std::lock_guard lock(state_->guard);
        trouble = state_->trouble;
    }
    if (trouble.has_value() == std::exchange(has_told_, trouble.has_value())) {
        return std::nullopt;
    }
    const auto where = authority_of(state_->where);
    if (trouble) {
        return log_entry::of<"traces_not_exported">(
            "spans do not reach the collector at " + where + ": " + *trouble +
                "; they are given up and counted, rows are relayed all the same; fix: see that the "
                "collector answers there, or remove traces.endpoint",
            with<"collector">(where), with<"reason">(*trouble));
    }
    return log_entry::of<"traces_exported_again">(
        "spans reach the collector at " + where + " again", with<"collector">(where));
}

void exporter::stop() {
    if (!thread_.joinable()) {
        return;
    }
    state_->stop_by = (clock::now() + last_flush_time).time_since_epoch();
    state_->queue.close();
    asio::post(state_->io, [] {});
    thread_.join();
    const auto is_resolving = [](const std::weak_ptr<collector_link>& each) {
        const auto link = each.lock();
        return link && link->is_resolving();
    };
    if (std::ranges::any_of(state_->given_up, is_resolving)) {
        // Its end would wait for the end of the look-up. Reachable, and never destroyed.
        static auto& kept = *new std::vector<std::shared_ptr<state>>;
        kept.push_back(state_);
    }
}

}  // namespace walrelay::traces
