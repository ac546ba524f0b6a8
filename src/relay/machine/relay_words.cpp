#include "relay/machine/relay_words.hpp"

namespace walrelay::relay {

error lies_beyond_the_wal(const std::string& stream, const commit_position& where,
                          std::uint64_t sequence, lsn wal_end) {
    const auto number = std::to_string(sequence);
    const auto place = sequence > 0 ? " at sequence " + number : "";
    const auto removal = sequence > 0 ? ": nats stream rmm " + stream + " " + number : "";
    return {errc::postgres_unsuitable,
            "stream " + stream + " has a message of commit LSN " + to_string(where.commit) + place +
                ", but the database's WAL has only come to " + to_string(wal_end) +
                " although system identifier and timeline are the same: the database was restored "
                "to a time before it, its WAL was reset, or somebody else published that message",
            "relay into a new stream (nats.stream), with postgres.snapshot = \"pending\" or "
            "\"all\" for the rows that are there; where somebody else published the message, and "
            "only then, take it out and start the relay again" +
                removal};
}

}  // namespace walrelay::relay
