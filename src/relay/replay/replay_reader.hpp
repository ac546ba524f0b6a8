// From the frames of a kept slot to the rows of the past that a replay is of. Pure.
//
// Reads what a relay has read then, and leaves out what is no original: rows that were published
// again (updates, dead letters, earlier replays) and moves by walrelay's own write-backs.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/lineage.hpp"
#include "outbox/table_mapper.hpp"
#include "relay/intake/control_proof.hpp"
#include "relay/intake/message_rows.hpp"
#include "relay/intake/open_transaction.hpp"
#include "relay/intake/table_catalog.hpp"
#include "relay/intake/table_duties.hpp"
#include "relay/replay/replay_choice.hpp"
#include "wal/change_reader.hpp"
#include "wal/replication_frame.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::relay {

/// A row as it was committed. Views that live until the next frame is read.
struct replayed_row {
    position where;
    wall_time committed_at;
    table_name source;
    /// Of the configuration; nothing where it has no such table (any more).
    std::optional<std::size_t> table;
    /// Its too_large_bytes is set as well where it is too large for a row of walrelay.control.
    row_insert row;
    /// As it goes through walrelay.control (row_json); empty where it does not, or is too large.
    std::string event = {};
    /// The message as today's configuration makes it, as far as it does.
    const message* content = nullptr;
    /// Why that is not possible; such a row becomes a dead letter.
    std::optional<error> unmappable = {};
};

struct replay_read {
    std::optional<replayed_row> row = {};
    /// A transaction has ended.
    bool committed = false;
    std::optional<wal::keepalive> alive = {};
    lsn received = {};
    /// Nothing more of the range comes.
    bool ended = false;
};

/// How a row goes on its way.
enum class replayed_as {
    /// Through walrelay.control, to the relay that publishes it.
    control_row,
    /// At once, as the message that it was.
    message,
};

struct replay_source {
    output_plugin plugin = output_plugin::pgoutput;
    lineage line = {};
    all_duties duties = {};
    std::uint64_t max_row_bytes = 0;
    replayed_as as = replayed_as::control_row;
};

class replay_reader {
public:
    /// `mappers` in the order of the configuration's tables.
    replay_reader(std::vector<outbox::table_mapper> mappers, table_catalog catalog,
                  replay_source source, replay_range range, replay_choice choice);

    /// Errors: those of wal, with the LSN.
    [[nodiscard]] result<replay_read> read(std::string_view frame);

private:
    result<void> take(const wal::xlog_data& data, replay_read& done);
    result<void> take_change(const change& decoded, replay_read& done);
    void take_insert(const row_insert& row, replay_read& done);
    void take_message(const logical_message& said, replay_read& done);
    void give(std::optional<std::size_t> table, const row_insert& row, replay_read& done);
    [[nodiscard]] bool resembles_an_outbox(const relation& table);

    std::vector<outbox::table_mapper> mappers_;
    table_catalog catalog_;
    replay_source source_;
    replay_range range_;
    replay_choice choice_;
    wal::change_reader frames_;
    std::optional<open_transaction> transaction_;
    struct tableless {
        std::size_t table;
        message_rows rows;
    };
    std::map<std::string, tableless, std::less<>> by_prefix_;
    control_verifier verifier_;
    message content_;
    // Of the last description of a table that is none of ours.
    std::uint64_t judged_revision_ = 0;
    bool judged_ = false;
};

}  // namespace walrelay::relay
