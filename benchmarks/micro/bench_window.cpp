// What is between the message and the slot: both lanes, and the ledger.

#include "event_meter.hpp"
#include "relay/confirm/ledger.hpp"
#include "relay/lane/lane.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace walrelay::bench {
namespace {

constexpr history origin{7'300'000'000'000'000'001, 1};
constexpr std::size_t block_messages = 1000;

/// Messages through a lane, with a broker that stores whatever it gets.
class lane_traffic {
public:
    explicit lane_traffic(bool sole_writer) : lane_(relay::lane::make(options(sole_writer))) {
        lane_->set_history({origin});
        lane_->open(1, {});
    }

    /// A block goes into the window, out to the broker and is acked.
    void pass_block() {
        for (std::size_t count = 0; count < block_messages; ++count) {
            fill(lane_->vacancy());
            lane_->admit();
        }
        while (!lane_->empty()) {
            sent_.clear();
            while (const auto sending = lane_->next_to_send({})) {
                sent_.push_back(sending->token);
            }
            for (const auto& token : sent_) {
                reply(token);
            }
        }
    }

private:
    static relay::lane_options options(bool sole_writer) {
        relay::lane_options wanted;
        wanted.sole_writer = sole_writer;
        return wanted;
    }

    void fill(message& out) {
        // More than are in the window at a time: their messages do not wait for each other.
        constexpr std::uint64_t aggregates = 2048;
        ++last_;
        out.where = {origin, {lsn{0x100000000 + last_}, {}, 0}};
        out.aggregate = "order ";
        out.aggregate += std::to_string(last_ % aggregates);
        out.subject = "events.order.placed";
    }

    void reply(relay::publish_token token) {
        const relay::publish_outcome stored{relay::outcome_class::stored, ++sequence_, 0, {}};
        if (lane_->on_reply(token, stored, {}) != relay::lane_verdict::carry_on) {
            std::abort();
        }
    }

    std::unique_ptr<relay::lane> lane_;
    std::vector<relay::publish_token> sent_;
    std::uint64_t last_ = 0;
    std::uint64_t sequence_ = 0;
};

void lane(benchmark::State& state, bool sole_writer) {
    // Goes round the window, so that every place in it has its memory.
    constexpr int warm_up_blocks = 10;
    lane_traffic traffic(sole_writer);
    for (int count = 0; count < warm_up_blocks; ++count) {
        traffic.pass_block();
    }
    event_meter meter(state);
    for (auto _ : state) {
        meter.begin();
        traffic.pass_block();
        meter.end(block_messages);
    }
}

BENCHMARK_CAPTURE(lane, fenced, true);
BENCHMARK_CAPTURE(lane, parallel, false);

/// Transactions of `rows` events, read a hundred transactions ahead of the acks.
void ledger(benchmark::State& state) {
    constexpr std::uint64_t ahead = 100;
    const auto rows = static_cast<std::uint64_t>(state.range(0));
    relay::ledger book;
    std::uint64_t read = 0;
    const auto last_event = [rows](std::uint64_t transaction, std::uint64_t row) {
        return commit_position{lsn{transaction * 2}, {}, row % rows};
    };
    event_meter meter(state);
    for (auto _ : state) {
        meter.begin();
        ++read;
        book.transaction_ended(last_event(read, rows - 1), lsn{read * 2 + 1});
        if (read > ahead) {
            for (std::uint64_t row = 0; row < rows; ++row) {
                book.stored_up_to(last_event(read - ahead, row));
            }
        }
        meter.end(rows);
    }
    benchmark::DoNotOptimize(book.acked());
}

BENCHMARK(ledger)->ArgName("rows")->Arg(1)->Arg(1000);

}  // namespace
}  // namespace walrelay::bench
