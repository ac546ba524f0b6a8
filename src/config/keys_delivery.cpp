// The keys of [delivery].
#include "config/key_makers.hpp"
#include "config/sections.hpp"

namespace walrelay::config {
namespace {

using std::chrono::milliseconds;

std::vector<key> window_keys() {
    return {
        integer_key<std::uint64_t>(
            {"delivery", "window_messages", "",
             "How many messages may be on their way without an ack, 1 to 65536. A full window "
             "stops "
             "reading from PostgreSQL."},
            [](const destination& to) -> std::uint64_t& { return to.all.delivery.window_messages; },
            {1, 65536}),
        size_key({"delivery", "window_bytes", "",
                  "How many bytes of messages may be on their way without an ack, `64KiB` to "
                  "`1GiB`; a single larger message still passes alone."},
                 [](const destination& to) -> byte_size& { return to.all.delivery.window_bytes; },
                 {byte_size{64ULL << 10U}, byte_size{1ULL << 30U}}),
        size_key({"delivery", "max_row_bytes", "",
                  "A row that has more bytes than this in the WAL stream becomes a dead letter "
                  "without its content, `64KiB` to `1GiB`."},
                 [](const destination& to) -> byte_size& { return to.all.delivery.max_row_bytes; },
                 {byte_size{64ULL << 10U}, byte_size{1ULL << 30U}}),
    };
}

std::vector<key> time_keys() {
    return {
        duration_key(
            {"delivery", "ack_timeout", "",
             "How long an ack may take before walrelay starts over with a new connection; "
             "at least `100ms`."},
            [](const destination& to) -> milliseconds& { return to.all.delivery.ack_timeout; },
            {milliseconds(100)}),
        duration_key(
            {"delivery", "backoff_initial", "",
             "The wait before the second try to reach a server; it grows with each further "
             "try. At least `1ms`, at most `backoff_max`."},
            [](const destination& to) -> milliseconds& { return to.all.delivery.backoff_initial; },
            {milliseconds(1)}),
        duration_key(
            {"delivery", "backoff_max", "",
             "The longest wait between two tries. Tries go on for ever."},
            [](const destination& to) -> milliseconds& { return to.all.delivery.backoff_max; },
            {milliseconds(1)}),
    };
}

std::vector<key> halt_keys() {
    return {
        choice_key<halt_policy>(
            {"delivery", "on_halt", "",
             "What the process does where an operator must decide: `\"exit\"` ends it with exit "
             "code 3, `\"stay\"` keeps it without slot and broker, and it goes on by itself once "
             "the cause is gone or `walrelay resume` was run."},
            [](const destination& to) -> halt_policy& { return to.all.delivery.on_halt; },
            {{"exit", halt_policy::exit}, {"stay", halt_policy::stay}}),
    };
}

std::vector<key> doubt_keys() {
    return {
        duration_key(
            {"delivery", "confirm_delay", "",
             "How long the slot is held back after the ack. A broker that acks before its data is "
             "on the disk forgets acked messages when its power fails; what is younger than this "
             "is then sent again. When the time is over, the stream is asked what it ends with, "
             "and only its answer moves the slot: a relay that stood still, or a broker that died "
             "in silence, confirms nothing. So a little longer than the broker's sync "
             "interval (nats-server: 2 minutes unless set) is enough; PostgreSQL keeps the WAL of "
             "that time."},
            [](const destination& to) -> milliseconds& { return to.all.delivery.confirm_delay; },
            {milliseconds(0)}),
        integer_key<std::uint32_t>(
            {"delivery", "max_attempts", "",
             "How often a message that the broker refuses for itself is tried before it is "
             "poison, 1 to 100. Outages are waited out, however long."},
            [](const destination& to) -> std::uint32_t& { return to.all.delivery.max_attempts; },
            {1, 100}),
        choice_key<poison_policy>(
            {"delivery", "on_poison", "",
             "What happens to a row that can never be published: `\"dead_letter\"` sets it aside "
             "in the table walrelay.dead_letter and goes on, `\"halt\"` stops before it and keeps "
             "the slot."},
            [](const destination& to) -> poison_policy& { return to.all.delivery.on_poison; },
            {{"dead_letter", poison_policy::dead_letter}, {"halt", poison_policy::halt}}),
        choice_key<slot_loss_policy>(
            {"delivery", "on_slot_loss", "",
             "What happens where the slot no longer has what the stream lacks: `\"halt\"` stops "
             "and "
             "says how to mend it, `\"heal\"` publishes what is missing from the outbox tables."},
            [](const destination& to) -> slot_loss_policy& { return to.all.delivery.on_slot_loss; },
            {{"halt", slot_loss_policy::halt}, {"heal", slot_loss_policy::heal}}),
    };
}

}  // namespace

std::vector<key> delivery_keys() {
    std::vector<key> all;
    for (auto part : {window_keys, time_keys, doubt_keys, halt_keys}) {
        for (key& row : part()) {
            all.push_back(std::move(row));
        }
    }
    return all;
}

}  // namespace walrelay::config
