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

std::vector<key> later_keys() {
    return {
        later_duration_key({"delivery", "confirm_delay", "",
                            "How long the slot is held back after the ack, for brokers that ack "
                            "before the data is on the disk."}),
        later_key({"delivery", "max_attempts", "",
                   "How often a message that the broker refuses for itself is tried before it is "
                   "poison."},
                  ""),
        later_key({"delivery", "on_poison", "",
                   "What happens to a message that can never be published: `\"halt\"` stops and "
                   "keeps the slot, `\"dead_letter\"` sets it aside in the database."},
                  R"("halt")"),
        later_key(
            {"delivery", "on_slot_loss", "",
             "What happens where the slot is lost: `\"halt\"` stops, `\"heal\"` publishes what "
             "is missing from the outbox table."},
            R"("halt")"),
    };
}

}  // namespace

std::vector<key> delivery_keys() {
    std::vector<key> all;
    for (auto part : {window_keys, time_keys, later_keys}) {
        for (key& row : part()) {
            all.push_back(std::move(row));
        }
    }
    return all;
}

}  // namespace walrelay::config
