#include "app/clock.hpp"
#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "app/fail.hpp"
#include "app/lasting_loss.hpp"
#include "app/missing_list.hpp"
#include "core/gap_words.hpp"
#include "core/json_string.hpp"
#include "core/one_line.hpp"
#include "core/progress.hpp"
#include "core/sql_text.hpp"
#include "core/waiting_slot.hpp"
#include "postgres/tables/dead_letter_store.hpp"
#include "postgres/tables/halt_store.hpp"
#include "postgres/tables/outbox_snapshot.hpp"
#include "servers/postgres_access.hpp"
#include "servers/run_to_end.hpp"
#include "servers/translate.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;
using postgres::halt_decision;

/// What was found and done, to be printed at the end.
struct outcome {
    std::optional<postgres::kept_halt> halt = {};
    std::optional<halt_decision> decision = {};
    std::optional<missing_list> missing = {};
    /// What the stream has lost, where no table has the rows any more.
    std::optional<error> lost = {};
    /// What to do next, for people.
    std::string then = {};
    int exit_code = exit_done;
};

void print_text(const std::string& slot, const outcome& done) {
    if (done.halt) {
        fmt::print("Slot {} is halted since {}.\n  reason: {}\n  fix:    {}\n", slot,
                   done.halt->halted_at, one_line(done.halt->reason), one_line(done.halt->fix));
    } else {
        fmt::print("Slot {} is not halted.\n", slot);
    }
    if (done.halt && done.halt->decision) {
        fmt::print("It was decided at {} already: {}.\n", done.halt->decided_at,
                   to_string(*done.halt->decision));
    }
    if (done.missing) {
        fmt::print("{}", text_of(*done.missing));
    }
    if (!done.then.empty()) {
        fmt::print("{}\n", done.then);
    }
}

void print_json(const std::string& slot, const outcome& done) {
    fmt::print(R"({{"slot":{},"halted":{})", json_string(slot), done.halt.has_value());
    if (done.halt) {
        fmt::print(R"(,"halted_at":{},"reason":{},"fix":{})", json_string(done.halt->halted_at),
                   json_string(done.halt->reason), json_string(done.halt->fix));
    }
    fmt::print(R"(,"decision":{})",
               done.decision ? json_string(to_string(*done.decision)) : "null");
    if (done.missing) {
        fmt::print(R"(,"missing":{})", json_of(*done.missing));
    }
    if (done.lost) {
        fmt::print(R"(,"stream_lost":{})", json_string(done.lost->what));
    }
    fmt::print("}}\n");
}

/// The table is a stand-in where none was named (read_settings).
bool names_tables(const config::settings& settings) {
    return !servers::with_tables_only(settings).outbox.empty() &&
           settings.outbox.front().table != table_name{"walrelay", "dead_letter"};
}

error is_another_halt(const std::string& slot) {
    return {errc::halted,
            "the halt of slot " + slot +
                " has been removed, or another one has taken its place, while this command looked; "
                "nothing was decided",
            "run this command again"};
}

/// For the halt that was read, and that people are told of.
awaitable<result<void>> decide(postgres::connection& sql, const config::settings& settings,
                               const outcome& done, halt_decision how) {
    auto slot = settings.postgres.slot;
    auto which = done.halt ? done.halt->which : std::string();
    auto tables = servers::published_tables_of(settings);
    std::string reason = "walrelay resume --heal has asked to publish what is missing";
    const auto kept = co_await postgres::decide_halt(sql, std::move(slot), std::move(which), how,
                                                     std::move(reason), std::move(tables));
    if (!kept) {
        co_return kept.error();
    }
    co_return *kept ? result<void>{} : is_another_halt(settings.postgres.slot);
}

error not_compared(const error& why) {
    return {why.code,
            "whether rows are missing cannot be told: " + why.what +
                "; nothing was changed, and the slot stays halted",
            (why.remedy.empty() ? "" : why.remedy + ", then this command again; or: ") +
                std::string(how_to_close_a_gap)};
}

/// Whether rows are missing, and where none is whether the next start would halt all the same.
awaitable<result<void>> look(servers::executors on, postgres::connection& sql,
                             const config::settings& settings, outcome& done) {
    const auto looked = co_await look_for_missing(on, settings, missing_scope::since_slot);
    if (!looked) {
        co_return not_compared(looked.error());
    }
    if (!looked->start_unknown) {
        done.missing = *looked;
    }
    if (done.missing && done.missing->count > 0) {
        co_return result<void>{};
    }
    // Where it cannot be told here, the next start tells it.
    done.lost = co_await lasting_loss(on, sql, settings);
    co_return result<void>{};
}

/// No look at the tables ends such a halt.
std::string stays_lost(const error& lost) {
    return fmt::format(
        "Nothing was changed: the slot stays halted, because {}. The tables do not show rows that "
        "are missing: those of the lost messages may be gone from them. fix: walrelay replay "
        "--rewind sends them again, if a bookmark or the trail reaches back to them; walrelay "
        "resume --heal publishes what the tables have, and goes on; walrelay resume --give-up goes "
        "on without them",
        lost.what);
}

/// Looks whether the cause is fixed. Where it is not told which tables there are, or what was in
/// them before the slot (made by hand, or before walrelay kept that), the next relay does.
awaitable<result<void>> take_back(servers::executors on, postgres::connection& sql,
                                  const config::settings& settings, outcome& done) {
    if (!done.halt) {
        co_return result<void>{};
    }
    if (names_tables(settings)) {
        const auto looked = co_await look(on, sql, settings, done);
        if (!looked) {
            co_return looked.error();
        }
    }
    if (done.missing && done.missing->count > 0) {
        done.then = fmt::format(
            "Nothing was changed: the slot stays halted while rows are missing. fix: {}",
            how_to_close_a_gap);
        done.exit_code = exit_findings;
        co_return result<void>{};
    }
    if (done.lost) {
        done.then = stays_lost(*done.lost);
        done.exit_code = exit_findings;
        co_return result<void>{};
    }
    const auto how = done.missing ? halt_decision::looked : halt_decision::look;
    const auto kept = co_await decide(sql, settings, done, how);
    if (!kept) {
        co_return kept.error();
    }
    done.decision = how;
    done.then = fmt::format(
        "Resumed slot {}: the next `walrelay run` {}. A relay that stays halted goes on within "
        "seconds.",
        settings.postgres.slot,
        done.missing ? "goes on, and halts again if rows are missing"
                     : "compares the rows of the tables with the stream, and halts again if some "
                       "are missing");
    co_return result<void>{};
}

error is_in_use(const std::string& slot) {
    return {errc::slot_in_use,
            "slot " + slot +
                " is not halted, and a relay streams from it: another one cannot publish what is "
                "missing beside it; nothing was changed",
            "stop every relay of the slot, run this command again, then start walrelay run"};
}

awaitable<result<void>> heal(postgres::connection& sql, const config::settings& settings,
                             outcome& done) {
    if (!done.halt) {
        auto slot = settings.postgres.slot;
        const auto progress = co_await postgres::read_slot_progress(sql, std::move(slot));
        if (!progress) {
            co_return progress.error();
        }
        if (progress->active) {
            co_return is_in_use(settings.postgres.slot);
        }
    }
    const auto kept = co_await decide(sql, settings, done, halt_decision::heal);
    if (!kept) {
        co_return kept.error();
    }
    done.decision = halt_decision::heal;
    done.then = fmt::format(
        "Slot {}: the next `walrelay run` publishes from the tables what the stream lacks, this "
        "once, and goes on. A relay that stays halted does so within seconds. Then: walrelay "
        "verify",
        settings.postgres.slot);
    co_return result<void>{};
}

awaitable<result<void>> keep_list(postgres::connection& sql, const config::settings& settings,
                                  const missing_list& missing) {
    auto rows = rows_of(missing, settings, now().wall);
    auto slot = settings.postgres.slot;
    auto tables = servers::published_tables_of(settings);
    co_return co_await postgres::leave_out(sql, std::move(slot), std::move(rows),
                                           std::move(tables));
}

/// The list first: what is given up and not on record would be lost in silence.
awaitable<result<void>> give_up(servers::executors on, postgres::connection& sql,
                                const config::settings& settings, outcome& done) {
    const auto looked = co_await look_for_missing(on, settings, missing_scope::all);
    if (!looked) {
        co_return looked.error();
    }
    done.missing = *looked;
    const auto listed = co_await keep_list(sql, settings, *looked);
    if (!listed) {
        co_return listed.error();
    }
    if (done.halt) {
        const auto kept = co_await decide(sql, settings, done, halt_decision::give_up);
        if (!kept) {
            co_return kept.error();
        }
        done.decision = halt_decision::give_up;
    }
    auto slot = settings.postgres.slot;
    const auto progress = co_await postgres::read_slot_progress(sql, std::move(slot));
    if (!progress) {
        co_return progress.error();
    }
    done.then = fmt::format("Gave up {}: walrelay dead-letter list --given-up names them.",
                            counted(looked->count, "row"));
    if (!progress->exists) {
        done.then += " The slot is gone: walrelay init --new-slot makes it.";
    } else if (progress->lost) {
        done.then += fmt::format(
            " The slot has lost its WAL: SELECT pg_drop_replication_slot({}); then walrelay init "
            "--new-slot makes it.",
            quote_literal(settings.postgres.slot));
    } else if (done.halt) {
        done.then += " The next `walrelay run` goes on without them.";
    }
    co_return result<void>{};
}

awaitable<result<void>> act(servers::executors on, postgres::connection& sql,
                            const config::settings& settings, const resume_options& options,
                            outcome& done) {
    if (options.heal) {
        co_return co_await heal(sql, settings, done);
    }
    if (options.give_up) {
        co_return co_await give_up(on, sql, settings, done);
    }
    co_return co_await take_back(on, sql, settings, done);
}

/// What waits under another name is not lost, and nothing is to be healed or given up.
awaitable<result<void>> require_no_wait(postgres::connection& sql,
                                        const config::settings& settings) {
    const auto& slot = settings.postgres.slot;
    const auto progress = co_await postgres::read_slot_progress(sql, slot);
    if (!progress) {
        co_return progress.error();
    }
    co_return progress->waits ? waits_under_another_name(slot, *progress->waits) : result<void>{};
}

awaitable<int> resume(servers::executors on, const config::settings& settings,
                      const resume_options& options) {
    auto sql = co_await servers::open_sql_of_own_schema(on.loop, settings);
    if (!sql) {
        co_return fail(sql.error());
    }
    if (const auto there = co_await require_no_wait(*sql, settings); !there) {
        co_return fail(there.error());
    }
    auto slot = settings.postgres.slot;
    const auto halt = co_await postgres::read_halt(*sql, std::move(slot));
    if (!halt) {
        co_return fail(halt.error());
    }
    outcome done;
    done.halt = *halt;
    const auto acted = co_await act(on, *sql, settings, options, done);
    if (!acted) {
        co_return fail(acted.error());
    }
    options.json ? print_json(settings.postgres.slot, done)
                 : print_text(settings.postgres.slot, done);
    co_return done.exit_code;
}

}  // namespace

int command_resume(const config::settings& settings, resume_options options) {
    return servers::run_to_end(
        [&](servers::executors on) { return resume(on, settings, options); });
}

}  // namespace walrelay::app
