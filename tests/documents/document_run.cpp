// See document_run.hpp.
#include "documents/document_run.hpp"

#include "support/eventually.hpp"
#include "support/free_port.hpp"

#include <fstream>
#include <regex>
#include <sstream>

namespace walrelay::test {
namespace {

constexpr std::chrono::minutes longest{3};
constexpr std::chrono::seconds patience{20};
constexpr const char* marker = "@@ block ";
constexpr const char* end_marker = "@@ end";

// In place of build/walrelay: a relay is started and left to itself once it streams. A port that is
// always the same is none for a test. Not in the foreground, timeout sends a signal twice: on a
// busy machine the second one came when the relay had stopped and was about to exit.
constexpr const char* walrelay_tool = R"sh(#!/bin/bash
words=("${@//nats:\/\/127.0.0.1:4222/$DOCUMENT_NATS}")
if [[ ${1:-} == status && " $* " == *" --watch"* ]]; then
    timeout -s INT 2 "$DOCUMENT_WALRELAY" "${words[@]}" || [[ $? == 124 ]]
    exit
fi
[[ ${1:-} == run && " $* " != *" --help "* ]] || exec "$DOCUMENT_WALRELAY" "${words[@]}"
log=$DOCUMENT_LOGS/relay-$$
(timeout --foreground 300 "$DOCUMENT_WALRELAY" "${words[@]}" >"$log.log" 2>&1 & echo $! >"$log.pid"
    wait $!; echo $? >"$log.code") >/dev/null 2>&1 &
until grep -qs 'streaming from slot' "$log.log"; do
    [[ ! -s $log.code ]] || { cat "$log.log"; exit "$(<"$log.code")"; }
    sleep 0.05
done
cat "$log.log"
)sh";

// In place of examples/watch: goes on beside what follows, once it watches.
constexpr const char* watch_tool = R"sh(#!/bin/bash
words=("${@//nats:\/\/127.0.0.1:4222/$DOCUMENT_NATS}")
log=$DOCUMENT_LOGS/watch-$$
timeout 300 "$DOCUMENT_SOURCE/examples/watch" "${words[@]}" >"$log.log" 2>"$log.errors" &
echo $! >"$log.pid"
until grep -qs '^watching ' "$log.errors"; do
    kill -0 $! 2>/dev/null || { cat "$log.errors"; exit 1; }
    sleep 0.05
done
)sh";

constexpr const char* prologue = R"sh(
exec 2>&1
set -eu -o pipefail
ended() {
    kill $(jobs -p) $(cat "$DOCUMENT_LOGS"/watch-*.pid 2>/dev/null) 2>/dev/null
    [[ ! -d $TMPDIR/walrelay-examples-$UID ]] || "$DOCUMENT_SOURCE/examples/try" stop
}
trap ended EXIT
)sh";

// What ends the script: when told so, the relays in order, then all that is left.
constexpr const char* epilogue = R"sh(
set +e
echo '@@ end'
until [[ -e $DOCUMENT_LOGS/finish ]]; do sleep 0.05; done
result=0
for pid in "$DOCUMENT_LOGS"/relay-*.pid; do
    [[ -e $pid && ! -s ${pid%.pid}.code ]] || continue
    kill "$(<"$pid")"
    until [[ -s ${pid%.pid}.code ]]; do sleep 0.05; done
    [[ $(<"${pid%.pid}.code") == 0 ]] || { cat "${pid%.pid}.log"; result=1; }
done
exit "$result"
)sh";

std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
}

/// A whole configuration around a part of one.
std::string completed(const std::string& part) {
    if (part.find("[[outbox]]") != std::string::npos) {
        return part;
    }
    const std::string outbox = "[[outbox]]\ntable = \"public.outbox_events\"\n";
    if (part.find("\n[") != std::string::npos || part.starts_with("[")) {
        return part + "\n" + outbox;
    }
    if (part.starts_with("conninfo")) {
        return "[postgres]\n" + part + outbox;
    }
    return outbox + part;
}

}  // namespace

document_run::document_run(document what)
    : document_(std::move(what)), mail_port_(std::to_string(free_port())) {
    postgres_.session().execute("CREATE DATABASE app");
    lay_out_folder();
    write_tools();
    write_script();
}

void document_run::write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
}

void document_run::lay_out_folder() {
    namespace fs = std::filesystem;
    const fs::path source = WALRELAY_SOURCE_FOLDER;
    for (const auto* folder : {"build", "build-consumer", "bin", "logs", "examples", "temporary"}) {
        fs::create_directory(file(folder));
    }
    fs::permissions(file("temporary"), fs::perms::all);
    fs::create_symlink(source / "sql", file("sql"));
    fs::create_symlink(WALRELAY_MEMO_CONSUMER, file("build-consumer/memo_consumer"));
    for (const auto& entry : fs::directory_iterator(source / "examples")) {
        if (entry.path().filename() != "watch") {
            fs::create_symlink(entry.path(), file("examples") / entry.path().filename());
        }
    }
}

void document_run::write_tools() {
    namespace fs = std::filesystem;
    write("build/walrelay", walrelay_tool);
    write("examples/watch", watch_tool);
    for (const auto* name : {"build/walrelay", "examples/watch"}) {
        fs::permissions(file(name), fs::perms::owner_all);
    }
    fs::create_symlink(file("build/walrelay"), file("bin/walrelay"));
}

std::string document_run::lines_for(const document_block& block, const std::string& name) const {
    const auto text = std::regex_replace(block.text, std::regex("\\b2525\\b"), mail_port_);
    write(name, block.language == "toml" ? completed(text) : text);
    const auto quoted = "'" + file(name).string() + "'";
    if (block.language == "sql") {
        return "psql -X -v ON_ERROR_STOP=1 -f " + quoted + "\n";
    }
    if (block.language == "toml") {
        // Alone: what stands in a file is not completed by what the document sets.
        return "env -u WALRELAY_NATS_URLS WALRELAY_POSTGRES_CONNINFO=dbname=app walrelay config "
               "--check --config " +
               quoted + "\n";
    }
    if (block.ends_with == 0) {
        return ". " + quoted + "\n";
    }
    return "code=0\n(. " + quoted + ") || code=$?\n[[ $code == " + std::to_string(block.ends_with) +
           " ]] || { echo \"ended with $code\"; exit 1; }\n";
}

void document_run::write_script() {
    std::string script = prologue;
    for (const auto& block : document_.blocks) {
        const auto& language = block.language;
        const bool is_run =
            language == "sh" || language == "sql" || language == "toml" || language == "setup";
        if (is_run && block.not_run.empty()) {
            const auto number = std::to_string(block.line);
            auto lines = lines_for(block, "line" + number + "." + language);
            if (!block.only_if.empty()) {
                lines =
                    "if [[ -n $(psql -XAtc \"" + block.only_if + "\") ]]; then\n" + lines + "fi\n";
            }
            script += "echo '" + std::string(marker) + number + "'\n" + lines;
        }
    }
    write("script", script + epilogue);
}

std::vector<std::string> document_run::outputs_before(const document_block& wanted) const {
    std::vector<std::string> outputs;
    const auto all = shell_->standard_output();
    std::size_t before = 0;
    for (const auto& block : document_.blocks) {
        const auto at = all.find(marker + std::to_string(block.line) + "\n");
        if (block.line > wanted.line) {
            outputs.push_back(
                all.substr(before, (at == std::string::npos ? all.size() : at) - before));
            break;
        }
        if (block.language == "sh" || block.language == "sql") {
            before = at == std::string::npos ? before : at;
        }
    }
    if (outputs.empty()) {
        outputs.push_back(all.substr(before));
    }
    for (const auto& entry : std::filesystem::directory_iterator(file("logs"))) {
        outputs.push_back(text_of(entry.path()));
    }
    return outputs;
}

std::string document_run::compare_outputs() {
    std::string wrong;
    for (const auto& block : document_.blocks) {
        if (block.language != "text" || !block.not_run.empty()) {
            continue;
        }
        std::string missing;
        const bool is_there = eventually(patience, [&] {
            for (const auto& output : outputs_before(block)) {
                const auto line = first_missing_line(block.text, output);
                if (line.empty()) {
                    return true;
                }
                missing = missing.empty() ? line : missing;
            }
            return false;
        });
        if (!is_there) {
            wrong += "line " + std::to_string(block.line) +
                     ": the output has no line like: " + missing + "\n";
        }
    }
    return wrong;
}

std::string document_run::end() {
    write("logs/finish", "");
    const auto code = shell_->wait_exit(patience);
    return code == 0 ? "" : "walrelay was not stopped in order\n";
}

std::string document_run::work() {
    const auto nats = broker_.url();
    const auto there = [this](const char* name) { return file(name).string(); };
    shell_.emplace(command{
        .program = "bash",
        .arguments = {there("script")},
        .environment = {{"PATH", there("bin") + ":" + postgres_binary_folder().string() +
                                     ":/usr/sbin:/usr/bin:/sbin:/bin"},
                        {"TMPDIR", there("temporary")},
                        {"PGHOST", "127.0.0.1"},
                        {"PGPORT", std::to_string(postgres_.port())},
                        {"PGUSER", "postgres"},
                        {"PGDATABASE", "app"},
                        {"WALRELAY_NATS_URLS", nats},
                        {"WALRELAY_HTTP_LISTEN", "127.0.0.1:" + std::to_string(free_port())},
                        {"TRY_POSTGRES_PORT", std::to_string(free_port())},
                        {"TRY_NATS_PORT", std::to_string(free_port())},
                        {"DOCUMENT_NATS", nats},
                        {"DOCUMENT_PGPORT", std::to_string(postgres_.port())},
                        {"DOCUMENT_LOGS", there("logs")},
                        {"DOCUMENT_SOURCE", WALRELAY_SOURCE_FOLDER},
                        {"DOCUMENT_WALRELAY", WALRELAY_BINARY}},
        .folder = folder_.path(),
        .name = "shell"});
    const auto ended = [this] {
        return shell_->standard_output().find(end_marker) != std::string::npos ||
               !shell_->running();
    };
    if (!eventually(longest, ended) || !shell_->running()) {
        return "the commands ended, or did not come to their end, after\n" +
               shell_->standard_output() + shell_->standard_error();
    }
    auto wrong = compare_outputs();
    wrong += end();
    return wrong.empty() ? wrong : wrong + "---- output\n" + shell_->standard_output();
}

}  // namespace walrelay::test
