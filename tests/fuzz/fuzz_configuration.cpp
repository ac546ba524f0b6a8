// Any text is a configuration or is refused in single lines that say where, and a fragment of SQL
// that is taken stays a part of its statement.
#include "config/load.hpp"
#include "config/sql_fragment.hpp"
#include "fuzz/require.hpp"

#include <string>

namespace {

using namespace walrelay;
using fuzz::require;

void check_problems(const config::sources& from) {
    const auto loaded = config::load(from);
    if (loaded) {
        for (const auto& table : loaded->outbox) {
            for (const auto* sql : {&table.pending, &table.on_published, &table.on_dead_letter}) {
                require(sql->find('\0') == std::string::npos, "SQL is not cut short");
            }
        }
        return;
    }
    require(!loaded.error().empty(), "what is refused has a problem");
    for (const auto& each : loaded.error()) {
        require(!each.where.empty() || !each.key.empty(), "a problem says where it is");
        require(!each.what.empty() && !each.remedy.empty(), "a problem says what and a remedy");
        require(fuzz::is_printable(to_string(each)), "a problem is one line");
    }
}

void check_predicate(const std::string& text) {
    if (text.empty() || config::check_predicate(text)) {
        return;
    }
    require(!config::check_predicate("(" + text + ")"), "it can stand in parentheses");
    for (const std::string behind : {"'", "\"", ")", ";", "--", " $1"}) {
        require(config::check_predicate(text + behind).has_value(), "it leaves nothing open");
    }
}

void check_set_list(const std::string& text) {
    if (!config::check_set_list(text)) {
        require(!config::check_dead_letter_set_list(text) ||
                    text.find_first_of("{}") != std::string::npos,
                "it is one of dead letters, too");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(fuzz::as_text(data, size));
    check_problems({text, "walrelay.toml", {}, {}});
    config::flag_values flags{{"postgres.conninfo", "dbname=app"}, {"outbox.table", "events"}};
    for (const auto* key : {"nats.urls", "outbox.subject", "outbox.headers", "outbox.pending",
                            "outbox.on_published", "delivery.ack_timeout"}) {
        flags[key] = text;
    }
    check_problems({std::nullopt, "", {}, flags});
    check_predicate(text);
    check_set_list(text);
    return 0;
}
