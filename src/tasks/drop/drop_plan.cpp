#include "tasks/drop/drop_plan.hpp"

#include "core/control.hpp"
#include "core/joined.hpp"
#include "core/sql_text.hpp"
#include "postgres/catalog/slot_rewind.hpp"
#include "postgres/catalog/slot_switch.hpp"
#include "relay/machine/stream_owner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace walrelay::tasks {
namespace {

using postgres::removable_slot;

/// Not of the slot's own records: these are of rows, or of what an operator asked for.
constexpr std::string_view kept_without_schema[] = {"dead_letter", "replay"};

class planner {
public:
    planner(const drop_wish& wanted, const drop_sight& seen) : wanted_(wanted), seen_(seen) {}

    std::vector<drop_item> run() && {
        plan_slot();
        plan_kept();
        plan_other_slots();
        plan_publication();
        plan_stream();
        plan_schema();
        return std::move(items_);
    }

private:
    void plan_slot();
    void plan_kept();
    void plan_other_slots();
    void plan_publication();
    void plan_stream();
    void plan_schema();
    void plan_records(const postgres::removable_schema& schema);
    [[nodiscard]] std::string why_slot_stays(const removable_slot& slot) const;
    [[nodiscard]] bool is_own_copy(const std::string& slot) const;
    [[nodiscard]] std::string why_publication_stays() const;
    [[nodiscard]] std::string why_stream_stays() const;
    [[nodiscard]] std::string why_not_of_this_server(std::uint64_t marked) const;
    [[nodiscard]] std::string why_schema_stays(const postgres::removable_schema& schema) const;

    const drop_wish& wanted_;
    const drop_sight& seen_;
    std::vector<drop_item> items_;
};

std::string planner::why_slot_stays(const removable_slot& slot) const {
    if (slot.synced) {
        return "PostgreSQL copies it from the primary: drop it there";
    }
    if (slot.plugin != "pgoutput" && slot.plugin != "wal2json") {
        return slot.plugin.empty() ? "it is a physical slot, which walrelay does not make"
                                   : "its plugin is " + slot.plugin + ", not one of walrelay's";
    }
    return slot.database == seen_.database.database ? ""
                                                    : "it belongs to database " + slot.database;
}

void planner::plan_slot() {
    if (!seen_.database.slot) {
        return;
    }
    const auto& slot = *seen_.database.slot;
    const auto why = why_slot_stays(slot);
    drop_item item{drop_kind::slot, drop_fate::drop, slot.name, slot.plugin};
    item.held_bytes = slot.held_bytes;
    if (!why.empty()) {
        item.fate = drop_fate::leave;
        item.about = why;
        item.remedy = "if it is yours and not needed: " + drop_slot_sql(slot.name);
        item.is_trouble = true;
    }
    items_.push_back(std::move(item));
}

void planner::plan_kept() {
    for (const auto& each : seen_.kept.all) {
        drop_item item{drop_kind::kept_position, drop_fate::drop, each.slot,
                       each.kind == kept_kind::trail ? "trail" : "bookmark " + each.name};
        item.held_bytes = each.held_bytes;
        if (!each.is_ours) {
            item.fate = drop_fate::leave;
            item.about = "walrelay has no record of making it";
            item.remedy = "if it is yours and not needed: " + drop_slot_sql(each.slot);
            item.is_trouble = each.state == kept_state::kept;
        }
        items_.push_back(std::move(item));
    }
}

/// Slots that look like walrelay's, and are none that it knows: copies that a change of the plugin
/// or a rewind has left, and those that people made.
void planner::plan_other_slots() {
    for (const auto& each : seen_.database.others) {
        const bool is_listed =
            std::ranges::find(items_, each.name, &drop_item::name) != items_.end();
        if (is_listed) {
            continue;
        }
        drop_item item{drop_kind::slot, drop_fate::leave, each.name,
                       each.name.starts_with(wanted_.slot + '_')
                           ? "walrelay has no record of making it"
                           : "it is another slot"};
        item.held_bytes = each.held_bytes;
        item.remedy = each.active ? "a session uses it"
                                  : "if it is yours and not needed: " + drop_slot_sql(each.name);
        items_.push_back(std::move(item));
    }
}

/// By the records and the names that walrelay itself gives: another relay's slot can have a name
/// that begins with this one's. The temporary ones are not looked at.
bool planner::is_own_copy(const std::string& slot) const {
    const auto is_kept = [&slot](const kept_position& each) {
        return each.slot == slot && each.is_ours;
    };
    return slot == postgres::waiting_slot_name(wanted_.slot) ||
           slot == postgres::rewinding_slot_name(wanted_.slot) ||
           std::ranges::any_of(seen_.kept.all, is_kept);
}

/// walrelay keeps no record of publications: its own one has the configured tables and
/// walrelay.control, and nothing else.
std::string planner::why_publication_stays() const {
    const auto& publication = *seen_.database.publication;
    if (publication.for_all_tables) {
        return "it is for all tables, which walrelay does not make";
    }
    if (!publication.schemas.empty()) {
        return "it has all tables of schema " + joined(publication.schemas, ", ") +
               ", which walrelay does not make";
    }
    for (const auto& each : publication.tables) {
        const bool known = each == control_table() ||
                           std::ranges::find(wanted_.outboxes, each) != wanted_.outboxes.end();
        if (!known) {
            return "it has table " + to_string(each) + ", which this configuration does not name";
        }
    }
    for (const auto& each : seen_.database.others) {
        if (each.plugin == "pgoutput" && each.database == seen_.database.database &&
            !is_own_copy(each.name)) {
            return "slot " + each.name + " may read through it";
        }
    }
    return publication.owned
               ? ""
               : "it belongs to role " + publication.owner + ", not to " + seen_.database.role;
}

void planner::plan_publication() {
    if (!seen_.database.publication) {
        return;
    }
    std::vector<std::string> tables;
    for (const auto& each : seen_.database.publication->tables) {
        tables.push_back(to_string(each));
    }
    drop_item item{drop_kind::publication, drop_fate::drop, wanted_.publication,
                   tables.empty() ? "" : "for " + joined(tables, ", ")};
    if (auto why = why_publication_stays(); !why.empty()) {
        item.fate = drop_fate::leave;
        item.about = std::move(why);
        item.remedy = "if nothing else needs it, as its owner: DROP PUBLICATION " +
                      quote_identifier(wanted_.publication) + ";";
    }
    items_.push_back(std::move(item));
}

std::string planner::why_stream_stays() const {
    const auto mark = relay::owner_in(seen_.stream->description);
    if (!mark) {
        return "nothing marks it as walrelay's";
    }
    if (mark->slot != wanted_.slot || mark->database != seen_.database.database) {
        return fmt::format("it is marked as that of slot {} of database {}", mark->slot,
                           mark->database);
    }
    return why_not_of_this_server(mark->system_identifier);
}

/// `marked` is 0 where the mark does not say it: then the last message tells.
std::string planner::why_not_of_this_server(std::uint64_t marked) const {
    const auto here = seen_.system_identifier;
    const auto& last = seen_.stream->final_position;
    const auto there = marked != 0 ? marked : last ? last->origin.system_identifier : 0;
    if (there == 0 || there == here) {
        return "";
    }
    const auto* const who = marked != 0 ? "it is marked as that of this slot and database on"
                                        : "its last message was written by a relay of";
    if (here == 0) {
        return fmt::format(
            "{} the server with system identifier {}, and this role may "
            "not ask whether it is this one: that takes EXECUTE on pg_control_system() or "
            "REPLICATION",
            who, there);
    }
    return fmt::format(
        "{} another server, with system identifier {} (this one has {}): "
        "a relay there may still write into it",
        who, there, here);
}

void planner::plan_stream() {
    drop_item item{drop_kind::stream, drop_fate::keep, wanted_.stream};
    if (!wanted_.with_stream) {
        item.about = "its messages stay";
        item.remedy =
            "walrelay drop --with-stream deletes it, if walrelay made it, with its "
            "messages";
        items_.push_back(std::move(item));
        return;
    }
    if (!seen_.stream) {
        return;
    }
    item.fate = drop_fate::drop;
    const auto count = seen_.stream->message_count;
    item.about =
        fmt::format("with {} message{} and all its consumers", count, count == 1 ? "" : "s");
    if (auto why = why_stream_stays(); !why.empty()) {
        item.fate = drop_fate::leave;
        item.about = std::move(why);
        item.remedy = "if it is yours and not needed: nats stream rm " + wanted_.stream;
        item.is_trouble = true;
    }
    items_.push_back(std::move(item));
}

std::string planner::why_schema_stays(const postgres::removable_schema& schema) const {
    if (!schema.strange.empty()) {
        return "it holds what walrelay does not make: " + joined(schema.strange, ", ");
    }
    for (const auto& each : schema.tables) {
        if (!each.other_slots.empty()) {
            return fmt::format("walrelay.{} also has records of slot {}", each.name,
                               joined(each.other_slots, ", "));
        }
    }
    return schema.owned
               ? ""
               : "it, or a table of it, belongs to another role (the schema: " + schema.owner + ")";
}

/// What says of the slot where it began, that it is halted, and so on: it would mislead a slot of
/// the same name that is made later.
void planner::plan_records(const postgres::removable_schema& schema) {
    drop_item item{drop_kind::records, drop_fate::drop, "slot " + wanted_.slot};
    for (const auto& each : schema.tables) {
        const bool is_kept =
            std::ranges::find(kept_without_schema, each.name) != std::end(kept_without_schema);
        if (!is_kept && each.rows_of_slot.value_or(0) != 0 && each.may_delete) {
            item.tables.push_back(each.name);
        }
    }
    if (!item.tables.empty()) {
        item.about = "in walrelay." + joined(item.tables, ", walrelay.");
        items_.push_back(std::move(item));
    }
}

void planner::plan_schema() {
    if (!seen_.database.schema) {
        return;
    }
    const auto& schema = *seen_.database.schema;
    drop_item item{drop_kind::schema, drop_fate::drop, "walrelay"};
    std::vector<std::string> held;
    for (const auto& each : schema.tables) {
        item.tables.push_back(each.name);
        if (each.rows != 0) {
            held.push_back(fmt::format("{} ({})", each.name, each.rows));
        }
    }
    item.about = held.empty() ? "its tables are empty" : "rows: " + joined(held, ", ");
    const auto why = why_schema_stays(schema);
    if (!wanted_.with_schema) {
        plan_records(schema);
        item.fate = drop_fate::keep;
        item.remedy = "walrelay drop --with-schema drops it with these";
    } else if (!why.empty()) {
        plan_records(schema);
        item.fate = drop_fate::leave;
        item.about = why;
        item.remedy = "as its owner, if nothing needs what is in it: DROP SCHEMA walrelay CASCADE;";
        item.is_trouble = true;
    }
    items_.push_back(std::move(item));
}

}  // namespace

const char* to_string(drop_kind kind) {
    switch (kind) {
        case drop_kind::slot:
            return "slot";
        case drop_kind::kept_position:
            return "kept position";
        case drop_kind::publication:
            return "publication";
        case drop_kind::stream:
            return "stream";
        case drop_kind::records:
            return "records";
        case drop_kind::schema:
            return "schema";
    }
    return "";
}

const char* to_string(drop_fate fate) {
    switch (fate) {
        case drop_fate::drop:
            return "drop";
        case drop_fate::keep:
            return "keep";
        case drop_fate::leave:
            return "leave";
    }
    return "";
}

std::vector<drop_item> plan_drop(const drop_wish& wanted, const drop_sight& seen) {
    return planner(wanted, seen).run();
}

std::optional<error> obstacle_to_drop(const drop_wish& wanted, const drop_sight& seen) {
    const auto& slot = seen.database.slot;
    if (slot && slot->active) {
        return error{errc::slot_in_use,
                     fmt::format("a session (process {}) uses slot {}: a relay runs; nothing was "
                                 "dropped",
                                 slot->active_pid, slot->name),
                     "stop walrelay run and every standby of it, then: walrelay drop --execute"};
    }
    const auto used = std::ranges::find_if(
        seen.kept.all, [](const kept_position& each) { return each.is_ours && each.active; });
    if (used != seen.kept.all.end()) {
        return error{errc::slot_in_use,
                     "a session reads from " + used->slot + ", a kept position of slot " +
                         wanted.slot + "; nothing was dropped",
                     "let the replay end, or stop it, then: walrelay drop --execute"};
    }
    return std::nullopt;
}

}  // namespace walrelay::tasks
