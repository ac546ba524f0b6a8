// A program of others, in Go, that does this work: https://github.com/ihippik/wal-listener.
// It reads with pgoutput, waits for the ack of each message before the next, and sends an envelope
// and a subject of its own without an id: its messages are not those of the other contenders.
#pragma once

#include "harness/contender.hpp"
#include "harness/results.hpp"

#include <filesystem>
#include <vector>

namespace walrelay::bench {

inline constexpr const char* wal_listener_name = "wal-listener";

/// Adds it to the peers; where `program` is empty, a note that it is left out.
void add_wal_listener(const std::filesystem::path& program, std::vector<contender>& peers,
                      results& into);

}  // namespace walrelay::bench
