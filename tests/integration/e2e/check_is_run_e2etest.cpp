// `check` and `run` decide the same: wherever `check` finds no error a relay streams, and wherever
// it finds one the relay ends and has made nothing, nor does `init`. Tried with everything that can
// be odd about two servers, one at a time and in pairs.
#include "integration/e2e/relay_bench.hpp"
#include "support/child_process.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <sstream>

namespace walrelay::test {
namespace {

using namespace std::chrono_literals;

/// What is there before the first start. `%` is the name of the bench.
struct surroundings {
    std::string table = create_outbox_events();
    /// Run by the administrator, after the table was made.
    std::vector<std::string> sql = {};
    /// The relay's own role, with these rights; empty is the administrator.
    std::vector<std::string> grants = {};
    bool role = false;
    std::string attributes = "LOGIN REPLICATION";
    /// Of STREAM.CREATE, without name and subjects; nothing: there is no stream.
    std::optional<std::string> stream = {};
    std::string stream_name = "%";
    std::string stream_subjects = "[\"%.>\"]";
    std::string subject = "%.{aggregate_type}.{event_type}";
    std::string outbox = {};
    std::string postgres = {};
    std::string replay = {};
    std::string nats = {};
    /// What JetStream lets the broker's account have, as nats-server.conf says it; empty is all.
    std::string account = {};
};

struct oddity {
    const char* name;
    std::function<void(surroundings&)> into;
};

void give_role(surroundings& to, const std::set<std::string>& without = {}) {
    to.role = true;
    const std::vector<std::pair<std::string, std::string>> all = {
        {"use", "GRANT USAGE ON SCHEMA walrelay TO %"},
        {"tables", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA walrelay TO %"},
        {"select", "GRANT SELECT ON outbox_events TO %"},
        {"update", "GRANT UPDATE, DELETE ON outbox_events TO %"},
    };
    for (const auto& [name, grant] : all) {
        if (!without.contains(name)) {
            to.grants.push_back(grant);
        }
    }
}

std::string slot_sql(const std::string& plugin, const std::string& rest = "") {
    return "SELECT pg_create_logical_replication_slot('%', '" + plugin + "'" + rest + ")";
}

std::string publication_sql(const std::string& tables, const std::string& with) {
    return "CREATE PUBLICATION % FOR TABLE " + tables + " WITH (publish = '" + with + "')";
}

std::vector<oddity> of_roles() {
    using s = surroundings&;
    return {
        {"nothing", [](s) {}},
        {"a role of its own", [](s of) { give_role(of); }},
        {"no right to read", [](s of) { give_role(of, {"select"}); }},
        {"no right to write back",
         [](s of) {
             give_role(of, {"update"});
             of.outbox += "on_published = \"status = 'done'\"\n";
         }},
        {"no rights on walrelay's tables", [](s of) { give_role(of, {"tables"}); }},
        {"no right on the schema walrelay", [](s of) { give_role(of, {"use"}); }},
        {"a role that may not replicate",
         [](s of) {
             give_role(of);
             of.attributes = "LOGIN";
         }},
        {"a session of another role",
         [](s of) {
             give_role(of);
             of.sql.emplace_back(
                 "CREATE ROLE %_other; GRANT %_other TO %; ALTER ROLE % SET role = "
                 "'%_other'");
             for (auto& each : of.grants) {
                 each += ", %_other";
             }
         }},
    };
}

/// Of a database, for all that is done after it.
std::vector<oddity> of_databases() {
    using s = surroundings&;
    const std::string refusing =
        "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION 'not so'; END $$; CREATE EVENT TRIGGER refusing ON ddl_command_start WHEN "
        "TAG IN (";
    const auto refuse = [=](const std::string& tags) {
        return refusing + tags + ") EXECUTE FUNCTION refuse()";
    };
    return {
        {"an event trigger against publications",
         [=](s of) { of.sql.push_back(refuse("'CREATE PUBLICATION'")); }},
        {"an event trigger against tables",
         [=](s of) { of.sql.push_back(refuse("'CREATE SCHEMA', 'CREATE TABLE'")); }},
        {"a read-only database",
         [](s of) {
             of.sql.emplace_back(
                 "DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || quote_ident(current_database()) || "
                 "' SET default_transaction_read_only = on'; END $$");
         }},
    };
}

std::vector<oddity> of_slots() {
    using s = surroundings&;
    return {
        {"rows from before", [](s of) { of.sql.push_back(insert_event(1)); }},
        {"a snapshot", [](s of) { of.postgres += "snapshot = 'all'\n"; }},
        {"a snapshot by a condition that is wrong",
         [](s of) {
             of.postgres += "snapshot = 'pending'\n";
             of.outbox += "pending = \"no_such_column = 1\"\n";
         }},
        {"a snapshot, and a slot that is there",
         [](s of) {
             of.postgres += "snapshot = 'all'\n";
             of.sql.push_back(publication_sql("outbox_events", "insert"));
             of.sql.push_back(slot_sql("pgoutput"));
         }},
        {"a publication that lacks the table",
         [](s of) {
             of.sql.emplace_back("CREATE TABLE another (id int PRIMARY KEY)");
             of.sql.push_back(publication_sql("another", "insert"));
         }},
        {"a publication without inserts",
         [](s of) { of.sql.push_back(publication_sql("outbox_events", "update")); }},
        {"a slot of pgoutput without its publication",
         [](s of) { of.sql.push_back(slot_sql("pgoutput")); }},
        {"a slot of wal2json", [](s of) { of.sql.push_back(slot_sql("wal2json")); }},
        {"a slot of another plugin", [](s of) { of.sql.push_back(slot_sql("test_decoding")); }},
        {"a slot with two phases",
         [](s of) { of.sql.push_back(slot_sql("pgoutput", ", false, true")); }},
        {"a physical slot",
         [](s of) { of.sql.emplace_back("SELECT pg_create_physical_replication_slot('%')"); }},
    };
}

std::vector<oddity> of_tables() {
    using s = surroundings&;
    return {
        {"no table", [](s of) { of.table = "SELECT 1"; }},
        {"a view",
         [](s of) {
             of.sql.emplace_back(
                 "ALTER TABLE outbox_events RENAME TO behind; CREATE VIEW "
                 "outbox_events AS SELECT * FROM behind");
         }},
        {"an unlogged table",
         [](s of) { of.sql.emplace_back("ALTER TABLE outbox_events SET UNLOGGED"); }},
        {"a table that others inherit from",
         [](s of) { of.sql.emplace_back("CREATE TABLE child () INHERITS (outbox_events)"); }},
        {"row-level security",
         [](s of) {
             give_role(of);
             of.sql.emplace_back("ALTER TABLE outbox_events ENABLE ROW LEVEL SECURITY");
         }},
        {"no payload",
         [](s of) {
             of.sql.emplace_back("ALTER TABLE outbox_events RENAME event_data TO something");
         }},
        {"a subject of a column that is not there",
         [](s of) { of.subject = "%.{no_such_column}"; }},
        {"a subject that the stream does not take",
         [](s of) { of.subject = "elsewhere.{event_type}"; }},
        {"a write-back of a column that is not there",
         [](s of) { of.outbox += "on_published = \"no_such_column = 1\"\n"; }},
        {"cleaning up", [](s of) { of.outbox += "delete_after = '1h'\n"; }},
        {"republish of a column that is not there",
         [](s of) { of.outbox += "republish = { column = 'no_such_column', value = 'again' }\n"; }},
        {"kept positions", [](s of) { of.replay += "keep = '1h'\n"; }},
    };
}

std::vector<oddity> of_streams() {
    using s = surroundings&;
    return {
        {"a stream", [](s of) { of.stream = ""; }},
        {"a stream of other subjects",
         [](s of) {
             of.stream = "";
             of.stream_subjects = "[\"%_elsewhere.>\"]";
         }},
        {"a stream of interest", [](s of) { of.stream = "\"retention\": \"interest\""; }},
        {"a work queue", [](s of) { of.stream = "\"retention\": \"workqueue\""; }},
        {"a stream in memory", [](s of) { of.stream = "\"storage\": \"memory\""; }},
        {"a stream without acks", [](s of) { of.stream = "\"no_ack\": true"; }},
        {"a stream that forgets", [](s of) { of.stream = "\"max_age\": 3600000000000"; }},
        {"a stream that fills", [](s of) { of.stream = R"("max_msgs": 100, "discard": "new")"; }},
        {"a stream of one message for each subject",
         [](s of) {
             of.stream = R"("max_msgs_per_subject": 1, "discard": "new", )"
                         R"("discard_new_per_subject": true)";
         }},
        {"another stream on its subjects",
         [](s of) {
             of.stream = "";
             of.stream_name = "%_another";
         }},
        {"another stream on a part of its subjects",
         [](s of) {
             of.stream = "";
             of.stream_name = "%_another";
             of.stream_subjects = "[\"%.order.*\"]";
         }},
        {"a stream of small messages", [](s of) { of.stream = "\"max_msg_size\": 100"; }},
        {"a stream without consumers", [](s of) { of.stream = "\"max_consumers\": 1"; }},
    };
}

/// The other stream of an account.
void take_a_stream(surroundings& of, const std::string& more = "") {
    of.stream = more;
    of.stream_name = "%_another";
    of.stream_subjects = "[\"%_elsewhere.>\"]";
}

std::vector<oddity> of_accounts() {
    using s = surroundings&;
    const std::string two_mebibytes = "max_bytes = '2MiB'\n";
    return {
        {"an account with limits that suffice",
         [=](s of) {
             of.account =
                 "max_streams: 1, max_consumers: 3, max_file: 4MB, max_bytes_required: true";
             of.nats = two_mebibytes;
         }},
        {"an account that has all its streams",
         [](s of) {
             of.account = "max_streams: 1";
             take_a_stream(of);
         }},
        {"an account that demands a limit", [](s of) { of.account = "max_bytes_required: true"; }},
        {"an account of small streams",
         [=](s of) {
             of.account = "disk_max_stream_bytes: 1MB";
             of.nats = two_mebibytes;
         }},
        {"an account with little room",
         [=](s of) {
             of.account = "max_file: 1MB";
             of.nats = two_mebibytes;
         }},
        {"an account of few consumers", [](s of) { of.account = "max_consumers: 1"; }},
    };
}

const std::vector<oddity>& oddities() {
    static const auto all = [] {
        std::vector<oddity> some;
        for (auto&& each :
             {of_roles(), of_databases(), of_slots(), of_tables(), of_streams(), of_accounts()}) {
            some.insert(some.end(), each.begin(), each.end());
        }
        return some;
    }();
    return all;
}

class CheckIsRun : public testing::TestWithParam<const char*> {
protected:
    /// All that a start can make.
    static std::string made(relay_bench& bench) {
        std::string text = "slot: " + bench.slot("plugin").value_or("none");
        auto sql = bench.session();
        text += ", publications: " + sql.value_of("SELECT count(*) FROM pg_publication");
        text += ", tables: " +
                sql.value_of(
                    "SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = "
                    "c.relnamespace WHERE nspname = 'walrelay' AND relkind = 'r'");
        const auto state = bench.broker().state(bench.stream_name());
        return text + ", stream: " + (state ? "there" : "none");
    }

    static void try_out(const surroundings& of, const std::string& plugin) {
        std::optional<nats_server> limited;
        if (!of.account.empty()) {
            limited.emplace(
                nats_options{.settings = {"accounts { A { jetstream: { " + of.account +
                                              " }, users: [ { user: a, password: a } ] } }",
                                          "no_auth_user: a"}});
        }
        relay_bench bench(shared_postgres(), limited ? *limited : shared_nats(), plugin);
        const auto named = [&](std::string text) {
            for (auto at = text.find('%'); at != std::string::npos; at = text.find('%', at)) {
                text.replace(at, 1, bench.name());
            }
            return text;
        };
        bench.execute(of.table);
        if (of.role) {
            bench.execute("CREATE ROLE " + bench.name() + " " + of.attributes);
            make_own_tables(bench);
            bench.set_conninfo(bench.conninfo() + " user=" + bench.name());
        }
        auto statements = of.sql;
        statements.insert(statements.end(), of.grants.begin(), of.grants.end());
        for (const auto& each : statements) {
            // A pair can be one that no database takes.
            try {
                bench.execute(named(each));
            } catch (const std::runtime_error&) {
                return;
            }
        }
        if (of.stream) {
            const auto of_its_own = of.stream->empty() ? "" : ", " + *of.stream;
            try {
                bench.broker().create(
                    named(of.stream_name),
                    named("{\"name\": \"" + of.stream_name +
                          "\", \"subjects\": " + of.stream_subjects + of_its_own + "}"));
            } catch (const std::runtime_error&) {
                return;
            }
        }
        bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = \"" + of.subject + "\"\n" +
                         of.outbox);
        bench.set_postgres(of.postgres);
        bench.set_replay(of.replay);
        bench.set_nats(of.nats);
        expect_the_same(bench);
    }

    /// As an administrator makes them.
    static void make_own_tables(const relay_bench& bench) {
        command psql{.program = "psql",
                     .arguments = {"-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", bench.conninfo()},
                     .folder = bench.folder(),
                     .name = "psql"};
        for (const auto* const each : {"dead_letter", "halt", "control", "slot_start", "partition",
                                       "bookmark", "trail", "witness", "replay"}) {
            psql.arguments.insert(psql.arguments.end(),
                                  {"-f", std::string(WALRELAY_SQL_FOLDER "/") + each + ".sql"});
        }
        child_process run(psql);
        ASSERT_EQ(run.wait_exit(patience), 0) << run.standard_error();
    }

    static bool waits_for_writes(relay_bench& bench) {
        std::istringstream log(bench.relay().log());
        for (std::string line; std::getline(log, line);) {
            if (line.find("PostgreSQL takes no writes") != std::string::npos &&
                line.find("; trying again in") != std::string::npos) {
                return true;
            }
        }
        return false;
    }
    static bool waits_for_rows(relay_bench& bench) {
        return bench.relay().log().find("no row is read before") != std::string::npos;
    }

    static void expect_the_same(relay_bench& bench) {
        const auto before = made(bench);
        const auto checked = bench.command({"check", "--json"});
        const bool may_start = checked.output.find("\"severity\":\"error\"") == std::string::npos;
        EXPECT_EQ(made(bench), before) << "check has made something";
        bench.launch();
        const bool decided = eventually(patience, [&] {
            return bench.streaming() || !bench.relay().process().running() ||
                   waits_for_rows(bench) || waits_for_writes(bench);
        });
        const bool waits = waits_for_rows(bench) || waits_for_writes(bench);
        const bool streams = decided && bench.relay().process().running() && !waits;
        EXPECT_EQ(streams, may_start) << "check said: " << checked.output << checked.errors
                                      << "\nrun said: " << bench.relay().log();
        if (streams) {
            bench.stop();
            return;
        }
        if (decided && !waits_for_rows(bench)) {
            if (waits) {
                bench.stop();
            } else {
                EXPECT_EQ(bench.relay().process().wait_exit(patience), 3) << bench.relay().log();
            }
            EXPECT_EQ(made(bench), before) << bench.relay().log();
            const auto init = bench.command({"init"});
            EXPECT_EQ(init.exit_code, 3) << init.output << init.errors;
            EXPECT_EQ(made(bench), before) << init.output << init.errors;
        }
    }
};

TEST_P(CheckIsRun, OneAtATime) {
    for (const auto& each : oddities()) {
        SCOPED_TRACE(each.name);
        surroundings of;
        each.into(of);
        try_out(of, GetParam());
    }
}

/// The same pairs each time: a failure can be looked at again.
TEST_P(CheckIsRun, InPairs) {
    std::mt19937 dice(20'261'127);
    const auto& all = oddities();
    std::uniform_int_distribution<std::size_t> any(0, all.size() - 1);
    for (int pair = 0; pair < 40; ++pair) {
        const auto& first = all[any(dice)];
        const auto& second = all[any(dice)];
        if (first.name == second.name) {
            continue;
        }
        SCOPED_TRACE(std::string(first.name) + " and " + second.name);
        surroundings of;
        first.into(of);
        second.into(of);
        if (std::count(of.outbox.begin(), of.outbox.end(), '=') > 1 ||
            std::count(of.nats.begin(), of.nats.end(), '=') > 1) {
            continue;  // a key twice
        }
        try_out(of, GetParam());
    }
}

INSTANTIATE_TEST_SUITE_P(, CheckIsRun, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
