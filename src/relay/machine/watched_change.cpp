#include "relay/machine/watched_change.hpp"

#include "core/control.hpp"
#include "core/sql_text.hpp"
#include "relay/machine/relay_words.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace walrelay::relay {
namespace {

/// Back to the name that the configuration has.
std::string rename_sql(const table_name& now, const table_name& wanted) {
    std::string sql;
    auto from = now;
    if (now.schema != wanted.schema) {
        sql = "ALTER TABLE " + quote_table(from) + " SET SCHEMA " +
              quote_identifier(wanted.schema) + ";";
        from.schema = wanted.schema;
    }
    if (now.name != wanted.name) {
        sql += (sql.empty() ? "" : " ") + ("ALTER TABLE " + quote_table(from)) + " RENAME TO " +
               quote_identifier(wanted.name) + ";";
    }
    return sql;
}

bool is_partitioned(const watched_table& table) {
    return table.kind == "p";
}

class comparison {
public:
    comparison(const watched_names& names, const watched_facts& before, const watched_facts& now)
        : names_(names), before_(before), now_(now) {}

    watched_change run() &&;

private:
    void compare_publications();
    void compare(const table_name& name, const watched_table& was, const watched_table& is);
    void compare_same(const table_name& name, const watched_table& was, const watched_table& is);
    void compare_entries(const table_name& name, const watched_table& was, const watched_table& is);
    void look_at_another(const table_name& name, const watched_table& was, const watched_table& is);
    void look_at_gone(const table_name& name, const watched_table& was, const watched_table& is);
    void passes(std::string what, std::string fix);
    void read_again(std::string what);
    [[nodiscard]] bool publishes() const { return names_.plugin == output_plugin::pgoutput; }
    [[nodiscard]] std::string published_by() const { return "publication " + names_.publication; }

    const watched_names& names_;
    const watched_facts& before_;
    const watched_facts& now_;
    std::string passing_;
    std::string fixes_;
    std::string news_;
    bool is_publication_gone_ = false;
    std::vector<std::string> remarks_;
};

void append(std::string& list, std::string each) {
    if (list.find(each) == std::string::npos) {
        const bool is_sentence = list.ends_with(';') || list.ends_with('.');
        list += (list.empty() ? "" : is_sentence ? " " : "; ") + std::move(each);
    }
}

void comparison::passes(std::string what, std::string fix) {
    append(passing_, std::move(what));
    append(fixes_, std::move(fix));
}

void comparison::read_again(std::string what) {
    append(news_, std::move(what));
}

void comparison::compare_publications() {
    const auto& was = before_.publication;
    const auto& is = now_.publication;
    const auto publish = [this](const char* operations) {
        return "ALTER PUBLICATION " + quote_identifier(names_.publication) + " SET (publish = '" +
               operations + "');";
    };
    const char* const needed = names_.needs_updates ? "insert, update" : "insert";
    if (was.oid == 0) {
        return;
    }
    if (is.oid == 0) {
        is_publication_gone_ = true;
    } else if (is.oid != was.oid) {
        passes(published_by() + " was dropped and made again",
               "see that it holds the tables; what the slot still has from before it only wal2json "
               "decodes (postgres.plugin = \"wal2json\", walrelay init --switch-plugin)");
    } else if (was.inserts && !is.inserts) {
        passes(published_by() + " does not publish inserts any more", publish(needed));
    } else if (names_.needs_updates && was.updates && !is.updates) {
        passes(published_by() + " does not publish updates any more, which outbox.republish needs",
               publish(needed));
    } else if (is.via_root != was.via_root) {
        read_again(published_by() + " has another publish_via_partition_root");
    } else if (is.version != was.version && is.others == was.others && is.inserts == was.inserts &&
               is.updates == was.updates) {
        passes(published_by() + " was altered and altered back", "see that it publishes inserts");
    } else if (is.version != was.version) {
        remarks_.push_back(published_by() + " was altered: it still publishes what is relayed");
    }
}

void comparison::look_at_gone(const table_name& name, const watched_table& was,
                              const watched_table& is) {
    if (is.now_called) {
        passes("table " + to_string(name) + " is called " + to_string(*is.now_called) +
                   " now, and rows that are written to it under that name are not relayed",
               rename_sql(*is.now_called, name));
        return;
    }
    if (publishes() && was.entry != 0) {
        passes(
            "table " + to_string(name) + " was dropped, and with it its place in " + published_by(),
            "where the table is made again, in the same transaction: " +
                add_to_publication_sql(names_.publication, name));
        return;
    }
    read_again("table " + to_string(name) + " was dropped");
}

void comparison::look_at_another(const table_name& name, const watched_table& was,
                                 const watched_table& is) {
    const auto add = add_to_publication_sql(names_.publication, name);
    if (is.now_called) {
        passes("another table is called " + to_string(name) +
                   " now: the one that was relayed is called " + to_string(*is.now_called) +
                   ", and rows that are written to it are not relayed",
               publishes() && !is.published
                   ? "let all writers write to the new table and put it in: " + add
                   : std::string("let all writers write to the new table"));
    } else if (publishes() && !is.published) {
        passes("table " + to_string(name) + " was dropped and made again, and " + published_by() +
                   " does not hold the new one",
               add);
    } else if (publishes() && !is.born_published && (was.entry != 0 || is.entry != 0)) {
        passes("table " + to_string(name) + " was dropped and made again, and " + published_by() +
                   " holds the new one only since it was put in",
               "make a table and put it into the publication in one transaction");
    } else if (!publishes() && is_partitioned(is) &&
               std::ranges::none_of(before_.tables, is_partitioned)) {
        passes(
            "table " + to_string(name) +
                " was dropped and made again with partitions, whose names wal2json was not asked "
                "for",
            "walrelay resume --heal publishes what came meanwhile");
    } else {
        read_again("table " + to_string(name) + " was dropped and made again");
    }
    if (is.unlogged) {
        passes("table " + to_string(name) + " is unlogged, so that its rows never reach the WAL",
               "ALTER TABLE " + quote_table(name) + " SET LOGGED;");
    }
}

void comparison::compare_entries(const table_name& name, const watched_table& was,
                                 const watched_table& is) {
    if (is_publication_gone_ || now_.publication.oid != before_.publication.oid) {
        return;
    }
    if (was.published && !is.published) {
        const bool by_parts = is_partitioned(is) && was.members != is.members;
        passes(
            published_by() +
                (by_parts ? " does not hold all partitions of table " : " does not hold table ") +
                to_string(name) + " any more",
            add_to_publication_sql(names_.publication, name));
    } else if (!was.filtered && is.filtered) {
        passes(published_by() + " has a row filter for table " + to_string(name) +
                   " now, which keeps rows back",
               unfilter_sql(names_.publication, name));
    } else if (was.column_list != is.column_list) {
        read_again(published_by() + " has another column list for table " + to_string(name));
    } else if (was.entry != 0 && is.entry != 0 && was.entry != is.entry) {
        passes("table " + to_string(name) + " was taken out of " + published_by() +
                   " and put in again",
               "see that the publication holds it");
    }
}

void comparison::compare_same(const table_name& name, const watched_table& was,
                              const watched_table& is) {
    const auto table = "table " + to_string(name);
    if (!was.unlogged && is.unlogged) {
        passes(table + (is_partitioned(is) ? " has an unlogged partition" : " is unlogged") +
                   " now, so that its rows never reach the WAL",
               "ALTER TABLE " + quote_table(name) + " SET LOGGED;");
    }
    if (publishes()) {
        compare_entries(name, was, is);
    }
    if (was.columns != is.columns) {
        read_again("the columns of " + table + " have changed");
    }
    if (was.members != is.members || was.kind != is.kind) {
        read_again(table + " has other partitions, or other tables inherit from it");
    }
    if (was.owner != is.owner) {
        read_again(table + " belongs to another role");
    }
    if (was.code != is.code) {
        read_again("what runs where rows of " + table + " are changed is not the same");
    }
    if (!publishes() && was.schema_rights != is.schema_rights) {
        read_again("who may do what in the schema of " + table + " has changed");
    }
    if (was.rights != is.rights) {
        remarks_.push_back("what the role may do with " + table + " has changed: " +
                           (is.rights.empty() ? std::string("nothing") : is.rights) +
                           (was.rights.empty() ? "" : " (it was: " + was.rights + ")"));
    }
}

void comparison::compare(const table_name& name, const watched_table& was,
                         const watched_table& is) {
    if (name == control_table()) {
        // Walrelay makes it and puts it in by itself.
        if (publishes() && was.oid == is.oid && was.published && !is.published &&
            !is_publication_gone_) {
            compare_entries(name, was, is);
        }
        // What proves its rows is read with the catalog.
        if (was.oid != 0 && is.oid != 0 && (was.oid != is.oid || was.columns != is.columns)) {
            read_again("table " + to_string(name) + " was made or changed");
        }
        return;
    }
    if (was.oid == is.oid) {
        compare_same(name, was, is);
    } else if (was.oid == 0) {
        read_again("table " + to_string(name) + " was made");
    } else if (is.oid == 0) {
        look_at_gone(name, was, is);
    } else {
        look_at_another(name, was, is);
    }
}

watched_change comparison::run() && {
    if (publishes()) {
        compare_publications();
    }
    const auto count = std::min({names_.tables.size(), before_.tables.size(), now_.tables.size()});
    for (std::size_t index = 0; index < count; ++index) {
        compare(names_.tables[index], before_.tables[index], now_.tables[index]);
    }
    if (before_.writer_powers != now_.writer_powers) {
        read_again("what role " + now_.writer + " (postgres.writer) may do has changed");
    }
    watched_change change;
    change.remarks = std::move(remarks_);
    if (!passing_.empty()) {
        change.consequence =
            error{errc::gap_found,
                  passing_ +
                      ": rows that were written since then can be missing in the stream, "
                      "and slot " +
                      names_.slot + " does not send them",
                  fixes_ + (fixes_.ends_with(';') ? " Then: " : "; then: ") + how_to_close_a_gap};
    } else if (is_publication_gone_) {
        change.consequence = publication_was_skipped(names_);
    } else if (!news_.empty()) {
        change.consequence = error{errc::table_unknown, news_ + ": the catalog is read again"};
    }
    return change;
}

}  // namespace

watched_change judge_change(const watched_names& names, const watched_facts& before,
                            const watched_facts& now) {
    return comparison(names, before, now).run();
}

error publication_was_skipped(const watched_names& names) {
    return {errc::postgres_unsuitable,
            "the publication " + names.publication + " is missing, or younger than what slot " +
                names.slot +
                " still has to send: pgoutput leaves out the rows that were written before it. The "
                "slot is not confirmed past them",
            "walrelay check tells whether the server has wal2json; where it has, with every relay "
            "stopped, set postgres.plugin = \"wal2json\" and: walrelay init --switch-plugin; the "
            "slot resumes where it stands, with all that it holds; where it has not, check names "
            "another way"};
}

}  // namespace walrelay::relay
