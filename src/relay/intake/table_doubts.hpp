// Whose a table is that the WAL names, and the doubts about it: one that nobody has met yet, and
// one that may have been a partition where the WAL names only the leaf. Pure.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "outbox/table_mapper.hpp"
#include "relay/intake/open_transaction.hpp"
#include "relay/intake/table_catalog.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace walrelay::relay {

class table_doubts {
public:
    /// `mappers` must outlive this; `slot` is for the words of a fix.
    table_doubts(const std::vector<outbox::table_mapper>& mappers, std::string slot);

    /// A connection has read the catalog.
    void begin(table_catalog catalog);
    /// It streams, with this plugin. Returns the tables that were asked for and that the fresh
    /// catalog does not know as ours: their rows are left alone from now on. Each is returned once.
    [[nodiscard]] std::vector<table_name> begin_stream(output_plugin plugin);

    /// Whose the row's table is; where that is unknown, `done` says so, and `unknown_table`.
    /// Errors: table_unknown (connect again, with a fresh catalog), postgres_unsuitable (it may
    /// have been a partition of an outbox when the row was written).
    [[nodiscard]] result<table_catalog::answer> whose(const relation& table, const reading& now);

    [[nodiscard]] const table_name& unknown_table() const { return unknown_table_; }
    /// PostgreSQL has said that it is none of ours.
    void learn_unknown(bool exists) { catalog_.learn_other(unknown_table_, exists); }
    /// Whether a fresh catalog was fetched for it.
    [[nodiscard]] bool has_asked_for(const table_name& table) const {
        return asked_.contains(table);
    }
    /// It may be one of ours: the error with which a fresh catalog is fetched.
    [[nodiscard]] error reread_for(const table_name& table);

    [[nodiscard]] const table_catalog& catalog() const { return catalog_; }
    [[nodiscard]] output_plugin plugin() const { return plugin_; }

private:
    /// Whether a table of these columns could be relayed as one of the outboxes.
    [[nodiscard]] bool resembles_an_outbox(const relation& table) const;
    /// A type that was made since the catalog was read is asked for once, with a fresh one; of one
    /// that is not there then either no catalog can tell.
    [[nodiscard]] result<void> check_types(const relation& table);
    [[nodiscard]] result<void> check_past(const table_catalog::answer& found,
                                          const relation& table) const;

    const std::vector<outbox::table_mapper>& mappers_;
    std::string slot_;
    table_catalog catalog_;
    output_plugin plugin_ = output_plugin::pgoutput;
    /// Names that a fresh catalog was fetched for. Without a bound: each takes a table that
    /// somebody made with the columns of an outbox, and costs a connection; a name that were
    /// forgotten would be asked for again, and a transaction with rows of more tables than are kept
    /// never end.
    std::set<table_name> asked_;
    std::set<table_name> told_;  // those of them that were none of ours
    /// Types that a fresh catalog was fetched for. As few as there are columns of outboxes.
    std::set<type_oid> asked_types_;
    /// Tables with a name of ours that a fresh catalog was fetched for; without a bound as above.
    std::set<std::uint32_t> asked_oids_;
    table_name unknown_table_;
    // The table of the last row, because rows of one table come in runs.
    std::uint64_t last_revision_ = 0;
    table_catalog::answer last_answer_;
};

}  // namespace walrelay::relay
