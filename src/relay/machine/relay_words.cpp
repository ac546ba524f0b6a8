#include "relay/machine/relay_words.hpp"

namespace walrelay::relay {

error lies_beyond_the_wal(const std::string& stream, const commit_position& where,
                          std::optional<std::uint64_t> sequence, lsn wal_end) {
    const auto which = sequence ? " at sequence " + std::to_string(*sequence) : std::string();
    const auto removal = sequence ? "nats stream rmm " + stream + " " + std::to_string(*sequence)
                                  : "nats stream rmm " + stream + " <sequence>";
    return {errc::postgres_unsuitable,
            "stream " + stream + " has a message of commit LSN " + to_string(where.commit) + which +
                ", but the database's WAL has only come to " + to_string(wal_end) +
                " although system identifier and timeline are the same: somebody else published "
                "that message, or the WAL was reset. Nothing is healed, and slot and rows are as "
                "they were",
            "where somebody else published it, take it out and start the relay again: " + removal +
                "; where the WAL was reset, relay into a new stream (nats.stream), with "
                "postgres.snapshot = \"pending\" or \"all\" for the rows that are there"};
}

}  // namespace walrelay::relay
