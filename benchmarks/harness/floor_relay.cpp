#include "harness/floor_relay.hpp"

#include "harness/loop_connection.hpp"
#include "harness/replication_reader.hpp"
#include "harness/results.hpp"

#include <atomic>
#include <charconv>
#include <exception>
#include <thread>

namespace walrelay::bench {
namespace {

using clock_type = std::chrono::steady_clock;

class floor_relay : public running_contender {
public:
    floor_relay(bed& on, const std::string& plugin, floor_moments& into)
        : like_(on.message()),
          into_(into),
          inbox_(new_inbox()),
          broker_(on.nats.url(), inbox_ + "*"),
          rows_(on.postgres.conninfo(), bed::slot, on.options_of(plugin)),
          thread_([this] { run(); }) {}

    ~floor_relay() override { end(); }

    [[nodiscard]] std::optional<pid_t> pid() const override { return std::nullopt; }
    [[nodiscard]] std::string log() const override { return "(no log)"; }

    void stop() override {
        end();
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }

private:
    void end() {
        over_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
    }

    void run() {
        try {
            while (!over_) {
                turn();
            }
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    void turn() {
        constexpr int look_up_milliseconds = 20;
        pollfd ready[2] = {{.fd = rows_.socket(), .events = POLLIN, .revents = 0},
                           broker_.interest()};
        poll(ready, 2, look_up_milliseconds);
        if (ready[0].revents != 0) {
            rows_.read([this](std::string_view output) { take_output(output); });
            broker_.write();
        }
        broker_.process(ready[1].revents, [this](natsMsg* answer) { take_ack(answer); });
    }

    void take_output(std::string_view output) {
        const auto row = row_in(output);
        if (!row || *row >= into_.row_seen.size()) {
            return;
        }
        into_.row_seen[*row] = clock_type::now();
        const auto message = like_.make(inbox_ + std::to_string(*row), *row, published_++);
        test::require(natsConnection_PublishMsg(broker_.handle(), message.get()), "publish");
    }

    void take_ack(natsMsg* answer) {
        const auto now = clock_type::now();
        if (acked_sequence(body_of(answer)) == 0) {
            return;
        }
        const std::string_view subject = natsMsg_GetSubject(answer);
        std::uint64_t row = 0;
        std::from_chars(subject.data() + inbox_.size(), subject.data() + subject.size(), row);
        into_.acked.at(row) = now;
    }

    message_like like_;
    floor_moments& into_;
    std::string inbox_;
    loop_connection broker_;
    replication_reader rows_;
    std::uint64_t published_ = 0;
    std::atomic<bool> over_ = false;
    std::exception_ptr failure_;
    std::thread thread_;
};

}  // namespace

contender floor_contender(const std::string& plugin, floor_moments& into) {
    return {.name = floor_name(plugin), .plugin = plugin, .start = [plugin, &into](bed& on) {
                return std::make_unique<floor_relay>(on, plugin, into);
            }};
}

}  // namespace walrelay::bench
