#include "harness/cost.hpp"

#include "harness/paced_writers.hpp"
#include "harness/process_use.hpp"
#include "harness/progress.hpp"
#include "harness/statement_count.hpp"

#include <fstream>
#include <stdexcept>
#include <thread>

namespace walrelay::bench {
namespace {

constexpr const char* part = "cost";
constexpr double percent = 100;

/// What the contender does while `work` runs, which returns its own rows per second.
template <class Work>
void observe(bed& on, const running_contender& who, const place& where, results& into, Work work) {
    const double asked_before = statements_so_far(on).value();
    const double used_before = who.pid() ? processor_seconds(*who.pid()) : 0;
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (who.pid()) {
        into.add(where, "cpu_percent",
                 (processor_seconds(*who.pid()) - used_before) / seconds * percent);
    }
    into.add(where, "statements_per_second",
             (statements_so_far(on).value() - asked_before) / seconds);
}

std::unique_ptr<running_contender> start(bed& on, const contender& who) {
    on.start_over(who.plugin);
    who.prepare(on);
    auto running = who.start(on);
    // What it asks at its start is not what it asks later.
    constexpr std::chrono::seconds settling{2};
    std::this_thread::sleep_for(settling);
    return running;
}

void measure_idle(bed& on, const contender& who, const cost_options& how, results& into) {
    const place where{part, "idle", who.name};
    const auto running = start(on, who);
    // A statement every 5 s is 0.2 a second only over several of them, and the first of these finds
    // a server that has changed since the start.
    const std::chrono::seconds rest(how.seconds);
    std::this_thread::sleep_for(rest);
    observe(on, *running, where, into, [&] { std::this_thread::sleep_for(3 * rest); });
    running->stop();
}

void measure_busy(bed& on, const contender& who, const cost_options& how, results& into) {
    const place where{part, "1000 rows/s", who.name};
    const auto running = start(on, who);
    observe(on, *running, where, into,
            [&] { (void)write_at(on.writer_conninfo(), pace_of(1000, how.seconds)); });
    running->stop();
}

std::filesystem::path write_script(const bed& on) {
    const auto file = on.folder() / "insert.sql";
    std::ofstream out(file);
    out << "INSERT INTO " << outbox_table
        << " (id, aggregate_id, aggregate_type, event_type, event_data, status, version, "
           "created_at)"
           " VALUES (gen_random_uuid(), 'user-0001', 'user', 'user.created', jsonb_build_object("
           "'text', (SELECT text FROM filler WHERE i = :client_id)), 'pending', 1, "
           "clock_timestamp());\n";
    if (!out.flush()) {
        throw std::runtime_error("cannot write " + file.string());
    }
    return file;
}

/// Transactions per second of pgbench.
double insert_for(bed& on, std::uint64_t seconds) {
    test::child_process pgbench(
        {.program = (test::postgres_binary_folder() / "pgbench").string(),
         .arguments = {"-n", "-M", "prepared", "-c", "4", "-j", "1", "-T", std::to_string(seconds),
                       "-f", write_script(on).string(), "-d", on.writer_conninfo()},
         .folder = on.folder(),
         .name = "pgbench"});
    const auto code = pgbench.wait_exit(std::chrono::seconds(seconds + 60));
    const auto said = pgbench.standard_output();
    const auto found = said.rfind("tps = ");
    if (code != 0 || found == std::string::npos) {
        throw std::runtime_error("pgbench failed: " + pgbench.standard_error());
    }
    return std::stod(said.substr(found + std::string("tps = ").size()));
}

/// Returns the writers' rows per second.
double measure_writers(bed& on, const contender& who, const cost_options& how, results& into) {
    const place where{part, "inserts as fast as can be", who.name};
    const auto running = start(on, who);
    double rate = 0;
    observe(on, *running, where, into, [&] { rate = insert_for(on, how.seconds); });
    into.add(where, "insert_rows_per_second", rate);
    running->stop();
    return rate;
}

std::vector<contender> contenders_of(const cost_options& how) {
    std::vector<contender> all;
    for (const auto& plugin : how.plugins) {
        all.push_back(decoder_contender(plugin));
        all.push_back(relay_contender(plugin));
    }
    return all;
}

/// Next to each other, since a disk is not as fast in one minute as in another; who is first
/// alternates.
void compare_writers(bed& on, const contender& who, const cost_options& how, bool first,
                     results& into) {
    const double before = first ? measure_writers(on, who, how, into) : 0;
    const double undisturbed = measure_writers(on, no_contender(), how, into);
    const double left = first ? before : measure_writers(on, who, how, into);
    into.add({part, "inserts as fast as can be", who.name}, "of_undisturbed", left / undisturbed);
    say("cost: {}: {:.0f} inserts/s, {:.0f} without", who.name, left, undisturbed);
}

void repeat(bed& on, const contender& who, const cost_options& how, bool first, results& into) {
    compare_writers(on, who, how, first, into);
    measure_idle(on, who, how, into);
    measure_busy(on, who, how, into);
}

}  // namespace

void measure_cost(const cost_options& how, const programs& with, results& into) {
    bed on(with, counting_settings());
    count_statements(on);
    constexpr std::uint64_t body_bytes = 300;
    on.calibrate(body_bytes);
    for (int repetition = 1; repetition <= how.repetitions; ++repetition) {
        say("cost: repetition {} of {}", repetition, how.repetitions);
        for (const auto& who : contenders_of(how)) {
            repeat(on, who, how, repetition % 2 == 0, into);
        }
        into.end_repetition();
    }
}

}  // namespace walrelay::bench
