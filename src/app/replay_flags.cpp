#include "app/replay_flags.hpp"

#include "app/dead_letter_flags.hpp"
#include "config/checks.hpp"
#include "config/identifier.hpp"
#include "core/one_line.hpp"
#include "relay/intake/control_row.hpp"

#include <string>
#include <vector>

namespace walrelay::app {
namespace {

void take_tables(const std::vector<std::string>& texts, tasks::replay_request& request) {
    for (const auto& text : texts) {
        const auto name = config::read_table_name(text);
        if (!name) {
            throw CLI::ValidationError("--table",
                                       name.error().what + "; fix: " + name.error().remedy);
        }
        request.tables.push_back(*name);
    }
}

/// A template of where messages go has `{subject}` in it; what has not is a filter.
void take_subjects(const std::vector<std::string>& texts, tasks::replay_request& request) {
    for (const auto& text : texts) {
        const bool is_template = text.find("{subject}") != std::string::npos;
        if (is_template && !relay::is_replay_subject(text)) {
            throw CLI::ValidationError(
                "--subject", "no message may have the subject " + one_line(text) +
                                 "; fix: use tokens without blanks and wildcards, such as "
                                 "replay.{subject}");
        }
        auto& into = is_template ? request.to_subject : request.subject;
        if (!into.empty()) {
            throw CLI::ValidationError("--subject",
                                       "two of a kind were given; fix: give one "
                                       "filter, and one template with {subject}");
        }
        into = text;
    }
}

void add_range(CLI::App& replay, tasks::replay_request& request) {
    replay
        .add_option("--from", request.from,
                    "where to begin: bookmark:NAME, a time (2026-11-21T10:00Z, UTC where no zone "
                    "is given; \"10 minutes ago\"), an LSN, or a Walrelay-Position")
        ->type_name("WHERE");
    replay
        .add_option("--until", request.until,
                    "where to end, as --from: before a time, a bookmark or an LSN, with the row of "
                    "a position (default: where the slot stands now)")
        ->type_name("WHERE");
}

/// In place of a range.
void add_rows(CLI::App& replay, tasks::replay_request& request) {
    auto* const rows =
        replay.add_option("--rows", request.rows,
                          "in place of --from: the rows of --table for which this condition holds, "
                          "as they are now");
    rows->type_name("SQL");
    auto* const ids = replay.add_option("--ids", request.ids,
                                        "in place of --from: the rows of --table with these ids");
    ids->type_name("ID");
    auto* const file = replay.add_option("--ids-file", request.ids_file,
                                         "the same, one id in a line; -: standard input");
    file->type_name("FILE");
    for (auto* const one : {rows, ids, file}) {
        for (const auto* const other : {"--from", "--until"}) {
            one->excludes(replay.get_option(other));
        }
    }
    rows->excludes(ids)->excludes(file);
    ids->excludes(file);
}

/// In place of all of these.
void add_rewind(CLI::App& replay, tasks::replay_request& request) {
    auto* const rewind = replay.add_option(
        "--rewind", request.rewind,
        "in place of --from, for a stream that was lost: put the slot itself back to bookmark:NAME "
        "or to the trail; what the stream still has is skipped. The relay must be stopped");
    rewind->type_name("WHERE");
    for (const auto* const other : {"--from", "--until", "--rows", "--ids", "--ids-file", "--table",
                                    "--subject", "--aggregate", "--to-stream"}) {
        rewind->excludes(replay.get_option(other));
    }
}

void add_filters(CLI::App& replay, tasks::replay_request& request) {
    replay
        .add_option_function<std::vector<std::string>>(
            "--table",
            [&request](const std::vector<std::string>& texts) { take_tables(texts, request); },
            "only rows of this table, schema.table; can be given again")
        ->type_name("TABLE")
        ->allow_extra_args(false);
    replay
        .add_option_function<std::vector<std::string>>(
            "--subject",
            [&request](const std::vector<std::string>& texts) { take_subjects(texts, request); },
            "only rows with this subject, * and > as in a subscription; with {subject} in it, the "
            "subject that the messages get, such as replay.{subject}")
        ->type_name("SUBJECT")
        ->allow_extra_args(false);
    auto* const stream = replay.add_option_function<std::string>(
        "--to-stream",
        [&request](const std::string& text) {
            if (const auto wrong = config::check_stream(text)) {
                throw CLI::ValidationError("--to-stream", wrong->what + "; fix: " + wrong->remedy);
            }
            request.to_stream = text;
        },
        "publish into this stream, which is made where it is missing, and not through the "
        "relay: with their own positions and ids; the same command again goes on");
    stream->type_name("STREAM");
    for (const auto* const other : {"--rows", "--ids", "--ids-file"}) {
        stream->excludes(replay.get_option(other));
    }
    auto* const aggregate = replay.add_option("--aggregate", request.aggregates,
                                              "only rows of this aggregate; can be given again");
    aggregate->type_name("TYPE/ID")->allow_extra_args(false);
    for (const auto* const other : {"--rows", "--ids", "--ids-file"}) {
        aggregate->excludes(replay.get_option(other));
    }
    replay
        .add_option_function<std::string>(
            "--limit",
            [&request](const std::string& text) {
                request.limit_rows = static_cast<std::uint64_t>(read_number("--limit", text));
            },
            "refuse to replay more rows (default: 1000000)")
        ->type_name("NUMBER");
}

}  // namespace

CLI::App* add_replay(CLI::App& program, tasks::replay_request& request,
                     const std::function<void(CLI::App&)>& add_settings) {
    auto* const parent = program.add_subcommand(
        "replay", "publish rows of the past again; without --execute only the plan is shown");
    add_range(*parent, request);
    add_rows(*parent, request);
    add_filters(*parent, request);
    add_rewind(*parent, request);
    parent->add_flag("--execute", request.execute, "do it: without, nothing is written");
    parent->add_flag("--json", request.json, "print JSON");
    parent->require_subcommand(0, 1);
    const auto add = [&](const std::string& name, const std::string& about,
                         tasks::replay_action action) -> CLI::App& {
        auto* const added = parent->add_subcommand(name, about);
        added->parse_complete_callback([&request, action] { request.action = action; });
        return *added;
    };
    auto& list = add("list", "the replays of this slot", tasks::replay_action::list);
    list.add_flag("--json", request.json, "print JSON");
    const auto numbered = [&](const std::string& name, const std::string& about,
                              tasks::replay_action action) -> CLI::App& {
        auto& added = add(name, about, action);
        added
            .add_option_function<std::string>(
                "number",
                [&request](const std::string& text) {
                    request.number = read_number("number", text);
                },
                "its number, as list shows it")
            ->required();
        return added;
    };
    numbered("show", "all of one", tasks::replay_action::show)
        .add_flag("--json", request.json, "print JSON");
    numbered("resume", "go on with one that was broken off", tasks::replay_action::resume);
    numbered("cancel", "end one: what was written is still published",
             tasks::replay_action::cancel);
    add_settings(*parent);
    for (auto* const each : parent->get_subcommands({})) {
        add_settings(*each);
    }
    return parent;
}

}  // namespace walrelay::app
