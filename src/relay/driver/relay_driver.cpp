#include "relay/driver/relay_driver.hpp"

#include <utility>
#include <variant>

namespace walrelay::relay {
namespace {

template <class... Handlers>
struct overloaded : Handlers... {
    using Handlers::operator()...;
};
// Clang 16 does not deduce aggregates by itself.
template <class... Handlers>
overloaded(Handlers...) -> overloaded<Handlers...>;

/// Sets it for a while, also where that ends with an exception.
class while_true {
public:
    explicit while_true(bool& flag) : flag_(flag) { flag = true; }
    ~while_true() { flag_ = false; }
    while_true(const while_true&) = delete;
    while_true& operator=(const while_true&) = delete;

private:
    bool& flag_;
};

}  // namespace

relay_driver::relay_driver(relay_options options, std::vector<outbox::table_mapper> mappers,
                           std::uint64_t seed, host& process, broker_side& broker,
                           database_side& database)
    : machine_(std::move(options), std::move(mappers), seed),
      host_(process),
      broker_(broker),
      database_(database) {}

void relay_driver::start() {
    machine_.start();
    settle();
}

void relay_driver::stop() {
    machine_.stop_requested(now());
    settle();
}

void relay_driver::time_passed() {
    armed_for_.reset();
    machine_.time_passed(now());
    settle();
}

// Obeying.

void relay_driver::settle() {
    // An action may report an event at once, which asks for this again.
    if (settling_ || ended_) {
        return;
    }
    {
        const while_true settling(settling_);
        const auto started = now().monotonic;
        while (auto wanted = next_action(started)) {
            obey(*wanted);
        }
    }
    if (ended_) {
        return;
    }
    broker_.flush();
    arm_timer();
    if (machine_.wants_frames() || machine_.wants_rows()) {
        database_.resume_reading();
    }
}

std::optional<action> relay_driver::next_action(monotonic_time started) {
    return broker_.is_full() ? machine_.next_duty() : machine_.next_action(started);
}

void relay_driver::obey(action& wanted) {
    std::visit(
        overloaded{
            [this](const publish& what) { publish_or_fail(what.what); },
            [this](const send_status& status) { database_.send(status); },
            [this](const connect_broker& connect) {
                broker_epoch_ = connect.epoch;
                broker_.connect(connect, memory_.of_stream());
            },
            [this](const close_broker&) {
                broker_epoch_ = 0;
                broker_.close();
            },
            [this](const connect_postgres& connect) {
                postgres_epoch_ = connect.epoch;
                database_.connect(connect,
                                  memory_.of_database(connect.gap, machine_.wanted_newest_rows()));
            },
            [this](const close_postgres&) {
                postgres_epoch_ = 0;
                database_.close();
            },
            [this](const finish_postgres&) { database_.finish(); },
            [this](const ask_stream&) { broker_.ask_stream(); },
            [this](const read_message& one) { broker_.read_message(one); },
            [this](store_witness& what) { database_.store_witness(std::move(what)); },
            [this](mark_stream& mark) {
                broker_.mark_stream(std::move(mark), memory_.description());
            },
            [this](read_stored& which) { broker_.read_stored(std::move(which)); },
            [this](const adopt_slot& adopt) { database_.adopt_slot(adopt); },
            [this](store_dead_letters& each) { database_.store_dead_letters(std::move(each)); },
            [this](look_for_rows& rows) { database_.look_for_rows(std::move(rows)); },
            [this](leave_out& rows) { database_.leave_out(std::move(rows)); },
            [this](write_back& rows) { database_.write_back(std::move(rows)); },
            [this](fetch_row& row) { database_.fetch_row(std::move(row)); },
            [this](look_at_table& one) { database_.look_at_table(std::move(one)); },
            [this](const find_blocker& of) { database_.find_blocker(of); },
            [this](const ask_replayed& ask) { database_.ask_replayed(ask); },
            [this](store_halt& halt) { database_.store_halt(std::move(halt)); },
            [this](const write_log& line) { host_.write(line); },
            [this](const finish& how) { end(how); }},
        wanted);
}

void relay_driver::publish_or_fail(const outgoing& what) {
    if (const auto published = broker_.publish(what); !published) {
        machine_.broker_failed(broker_epoch_, published.error(), now());
    }
}

void relay_driver::end(const finish& how) {
    ended_ = true;
    broker_epoch_ = 0;
    postgres_epoch_ = 0;
    broker_.close();
    database_.close();
    host_.end(how);
}

void relay_driver::arm_timer() {
    const auto deadline = machine_.deadline();
    if (!deadline || (armed_for_ && *armed_for_ <= *deadline)) {
        return;
    }
    armed_for_ = deadline;
    host_.wake_at(*deadline);
}

}  // namespace walrelay::relay
