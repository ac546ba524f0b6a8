// What a replay would do, counted before anything is done. Pure.
#pragma once

#include "relay/replay/replay_reader.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {

struct replay_count {
    std::uint64_t rows = 0;
    /// As messages: subject, headers and body.
    std::uint64_t bytes = 0;
};

struct replay_plan {
    std::map<std::string, replay_count> by_table = {};
    /// At most `subjects_max`; what is not named is in `more_subjects`.
    std::map<std::string, replay_count> by_subject = {};
    replay_count more_subjects = {};
    static constexpr std::size_t subjects_max = 1000;
    replay_count all = {};
    std::uint64_t transactions = 0;
    /// What the rows take in walrelay.control, as text; the WAL holds somewhat more.
    std::uint64_t control_bytes = 0;
    /// Rows that become dead letters, by reason; the first few of them by name.
    std::uint64_t unmappable = 0;
    std::vector<std::string> unmappable_named = {};
    /// Rows above delivery.max_row_bytes, which are left out.
    std::uint64_t too_large = 0;
    /// Parts of the publication that may be younger than the kept position: rows from before it had
    /// them are not read.
    std::vector<std::string> published_later = {};
    std::optional<wall_time> first_commit = {};
    std::optional<wall_time> last_commit = {};
    std::optional<position> first = {};
    std::optional<position> last = {};

    void add(const replayed_row& row);

private:
    lsn counted_commit_ = {};
};

}  // namespace walrelay::relay
