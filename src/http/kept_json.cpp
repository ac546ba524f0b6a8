// The positions that are kept for a replay, in the JSON of /status and of `walrelay bookmark list`.
#include "http/status_json.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace walrelay::http {
namespace {

void write_moment(json_writer& to, std::string_view name, const std::optional<wall_time>& at) {
    if (at) {
        to.number(name, std::chrono::duration<double>(at->time_since_epoch()).count());
    } else {
        to.null(name);
    }
}

/// max_replication_slots can be thousands, and rows without a slot as many as anybody wants.
constexpr std::size_t positions_shown = 100;
/// Those that were broken off and never cancelled are among them.
constexpr std::size_t replays_shown = 20;

}  // namespace

void write_kept_position(json_writer& to, const kept_position& one) {
    to.text("kind", one.kind == kept_kind::trail ? "trail" : "bookmark").text("name", one.name);
    to.text("slot", one.slot).text("state", to_string(one.state));
    to.text("lost_for", one.lost_for).flag("made_by_hand", !one.is_ours);
    if (one.confirmed) {
        to.text("position", to_string(*one.confirmed));
    } else {
        to.null("position");
    }
    write_moment(to, "made_at", one.made_at);
    write_moment(to, "covers_from", one.covers_from);
    write_moment(to, "expires_at", one.expires_at);
    to.number("held_bytes", one.held_bytes);
    to.number("catalog_age_transactions", one.catalog_age_transactions);
    to.flag("failover", one.failover);
}

void write_facts(json_writer& to, const std::optional<kept_positions>& kept) {
    if (!kept) {
        to.null("facts");
        return;
    }
    to.open_object("facts");
    write_moment(to, "server_time", kept->read_at);
    to.number("held_bytes", held_bytes_of(*kept)).number("slots_free", kept->slots_free);
    to.open_array("positions");
    for (std::size_t index = 0; index < std::min(kept->all.size(), positions_shown); ++index) {
        to.open_object();
        write_kept_position(to, kept->all[index]);
        to.close_object();
    }
    to.close_array().open_array("replays");
    for (std::size_t index = 0; index < std::min(kept->replays.size(), replays_shown); ++index) {
        const auto& each = kept->replays[index];
        to.open_object().number("number", each.number).number("rows_planned", each.rows_planned);
        to.number("rows_written", each.rows_written).close_object();
    }
    to.close_array().close_object();
}

}  // namespace walrelay::http
