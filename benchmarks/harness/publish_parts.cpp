#include "harness/publish_parts.hpp"

#include "harness/drain.hpp"
#include "harness/machine.hpp"
#include "harness/progress.hpp"

#include <cstdio>
#include <utility>

namespace walrelay::bench {
namespace {

constexpr const char* part = "publish";
constexpr const char* plugin = "pgoutput";

struct way {
    const char* name;
    publish_form form;
};

/// As long as walrelay's.
constexpr const char* inbox = "_INBOX.AbCdEfGhIj.";
/// As long as those of client libraries, which walrelay had up to 0.3.0.
constexpr const char* long_inbox = "_INBOX.AbCdEfGhIjKlMnOpQrStUv.1.";
constexpr const char* shortest_inbox = "r.";
constexpr std::uint64_t window = 4096;

const std::vector<way>& ways() {
    static const std::vector<way> all = {
        {"as walrelay does", {.inbox = inbox}},
        {"the same again", {.inbox = inbox}},
        {"long reply subjects", {.inbox = long_inbox}},
        {"shortest reply subjects", {.inbox = shortest_inbox}},
        {"4096 reply subjects in turn", {.inbox = inbox, .replies = window}},
        {"256 reply subjects in turn", {.inbox = inbox, .replies = 256}},
        {"one reply subject", {.inbox = inbox, .replies = 1}},
        {"no Nats-Expected-Last-Sequence",
         {.inbox = inbox, .without = {"Nats-Expected-Last-Sequence"}}},
        {"no Nats-Msg-Id", {.inbox = inbox, .without = {"Nats-Msg-Id"}}},
        {"no Walrelay-Position", {.inbox = inbox, .without = {"Walrelay-Position"}}},
        {"no Content-Type", {.inbox = inbox, .without = {"Content-Type"}}},
        {"no blank after a header's name", {.inbox = inbox, .blank_after_name = false}},
        {"fast batches of 100", {.inbox = inbox, .batch = 100}},
        {"fast batches of 1000", {.inbox = inbox, .batch = 1000}}};
    return all;
}

std::vector<std::string> arguments_of(const publish_form& form) {
    std::vector<std::string> arguments = {"--inbox", form.inbox, "--replies",
                                          std::to_string(form.replies)};
    for (const auto& name : form.without) {
        arguments.insert(arguments.end(), {"--without", name});
    }
    if (!form.blank_after_name) {
        arguments.emplace_back("--no-blanks");
    }
    if (form.batch > 0) {
        arguments.insert(arguments.end(), {"--batch", std::to_string(form.batch)});
    }
    return arguments;
}

/// Since 2.14.
bool knows_batches(const std::string& version) {
    int major = 0;
    int minor = 0;
    return std::sscanf(version.c_str(), "%d.%d", &major, &minor) == 2 &&
           std::pair(major, minor) >= std::pair(2, 14);
}

std::size_t line_bytes(const bed& on, const publish_form& form) {
    std::string line;
    constexpr std::uint64_t some_row = 123'456;
    on.message().as_lines(form).append(line, some_row, some_row);
    return line.size();
}

double publish(bed& on, const std::string& scenario, const way& how, std::uint64_t rows,
               results& into) {
    on.remake_stream(how.form.batch > 0);
    on.connect_at(broker_role::leader, plugin);
    // Of batches only whole ones: nothing is told of one that is not committed.
    rows -= how.form.batch > 0 ? rows % how.form.batch : 0;
    auto command = on.publish(rows, publisher_kind::bare);
    const auto more = arguments_of(how.form);
    command.arguments.insert(command.arguments.end(), more.begin(), more.end());
    const place where{part, scenario, how.name};
    const auto figures = measure_publisher(on, where, command, rows, into);
    into.add(where, "line_bytes", static_cast<double>(line_bytes(on, how.form)));
    return figures.broker_microseconds;
}

}  // namespace

std::size_t publish_part_count() {
    return ways().size();
}

void measure_publish_parts(const cluster_options& how, const programs& with, results& into) {
    for (const auto& kind : broker_kinds(how)) {
        const auto scenario = fmt::format("{}, {} messages", name_of(kind), how.rows);
        const bool batches = knows_batches(version_of_nats(kind.program));
        bed on(with, {}, kind);
        constexpr std::uint64_t body_bytes = 300;
        on.calibrate(body_bytes);
        on.reset(plugin);
        for (int repetition = 1; repetition <= how.repetitions; ++repetition) {
            double whole = 0;
            for (const auto& each : ways()) {
                if (each.form.batch > 0 && !batches) {
                    continue;
                }
                const double cost = publish(on, scenario, each, how.rows, into);
                const bool is_whole = &each == &ways().front();
                whole = is_whole ? cost : whole;
                if (whole > 0 && !is_whole) {
                    into.add({part, scenario, each.name}, "broker_of_first", cost / whole);
                }
            }
            say("{}: {}: repetition {}", part, scenario, repetition);
            into.end_repetition();
        }
    }
}

}  // namespace walrelay::bench
