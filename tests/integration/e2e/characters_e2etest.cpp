// Text that breaks relays: Unicode, control characters, the characters that mean something to NATS,
// very large values, and databases that hold no UTF-8.
#include "integration/e2e/relay_bench.hpp"

#include <algorithm>

namespace walrelay::test {
namespace {

class Characters : public e2e_test {
protected:
    /// A row with `text` in every text column, and `json` in both json columns.
    void insert(const std::string& text, const std::string& json) const {
        (void)bench.session().query(
            "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
            " metadata, status, version, created_at) VALUES (gen_random_uuid(), $1::text,"
            " $1::text, $1::text, $2::jsonb, $2::jsonb, left($1::text, 50), 1, now())",
            {text, json});
    }

    /// Whether the envelope holds the row's values.
    [[nodiscard]] bool holds_the_row(const stored_message& message) const {
        const auto rows = bench.session().query(
            "SELECT body->>'aggregate_id' = aggregate_id AND body->>'aggregate_type' ="
            " aggregate_type AND body->>'event_type' = event_type AND body->'event_data' ="
            " event_data AND body->'metadata' = metadata"
            " FROM outbox_events, (SELECT $1::jsonb AS body) AS m WHERE id::text = body->>'id'",
            {message.body});
        return rows.size() == 1 && rows.front().front() == "t";
    }
};

bool has_control_character(const std::string& text) {
    constexpr unsigned char first_printable = 0x20;
    constexpr unsigned char delete_character = 0x7f;
    return std::any_of(text.begin(), text.end(), [](char letter) {
        const auto byte = static_cast<unsigned char>(letter);
        return byte < first_printable || byte == delete_character;
    });
}

std::vector<std::string> awkward_texts() {
    std::string all_ascii;
    for (char letter = 1; letter < '\x7f'; ++letter) {
        all_ascii += letter;
    }
    return {
        all_ascii + '\x7f',
        "Zo\u00eb \u00fcber \u4e2d\u6587 \u0627\u0644\u0639\u0631\u0628\u064a\u0629 "
        "\U0001F600\U0001F469\u200D\U0001F52C",
        "\u2028\u2029\ufeff\uffff\U0010ffff\u0080\u009f",
        "line\r\nNats-Msg-Id: forged\r\n\r\nbody",
        "a.b.c *.> \t> $JS.API.STREAM.DELETE.x",
        " blanks at both ends ",
        "%41 %2E {aggregate_id} {{}} \\ \" ' \\u0041 \\x41",
        "NaN null true 0 []",
    };
}

TEST_P(Characters, EveryTextArrivesAsItIs) {
    bench.create_table();
    bench.set_outbox(R"([[outbox]]
        table = "outbox_events"
        subject = "%.x.{aggregate_type}-.{event_type}-"
        headers = { "Aggregate" = "{aggregate_id}" })");
    bench.start();
    const auto texts = awkward_texts();
    for (const auto& text : texts) {
        const auto json =
            bench.session().query("SELECT jsonb_build_object($1::text, $1::text)", {text});
        insert(text, json.front().front().value());
    }
    ASSERT_TRUE(bench.wait_for_messages(texts.size()));
    bench.stop();

    const auto messages = bench.messages();
    ASSERT_EQ(messages.size(), texts.size());
    for (std::size_t index = 0; index < texts.size(); ++index) {
        EXPECT_TRUE(holds_the_row(messages[index])) << messages[index].body;
        EXPECT_EQ(std::count(messages[index].subject.begin(), messages[index].subject.end(), '.'),
                  3)
            << messages[index].subject;
        EXPECT_FALSE(has_control_character(messages[index].subject)) << messages[index].subject;
        EXPECT_FALSE(has_control_character(messages[index].header("Aggregate")));
    }
}

TEST_P(Characters, EscapesInJsonArriveAsTheyAre) {
    bench.execute("CREATE TABLE outbox_events (id int PRIMARY KEY, event_data json)");
    bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'\nbody = 'payload'");
    // json, unlike jsonb, stores the text; it may even hold an escaped NUL.
    const std::string escapes =
        R"({"nul": "\u0000", "half": "\ud83d\ude00", "all": "\b\f\n\r\t\/\\\"", "\u0041": 1e400})";
    bench.start();
    bench.execute("INSERT INTO outbox_events VALUES (1, " + as_literal(escapes) + ")");

    bench.expect_relayed({"1"});
    EXPECT_EQ(bench.messages().front().body, escapes);
}

TEST_P(Characters, OneMebibyteArrivesWhole) {
    bench.create_table();
    bench.start();
    constexpr int digests = 32768;  // of 32 characters each
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
        " status, version, created_at) SELECT " +
        as_literal(event_id(1)) +
        ", 'a', 'order', 'placed', jsonb_build_object('text', string_agg(md5(n::text), '')),"
        " 'pending', 1, now() FROM generate_series(1, " +
        std::to_string(digests) + ") AS n");
    bench.execute(insert_event(2));

    bench.expect_relayed(event_ids(1, 2));
    const auto rows = bench.session().query(
        "SELECT $1::jsonb->'event_data' = event_data, length(event_data->>'text') FROM "
        "outbox_events"
        " WHERE version = 1",
        {bench.messages().front().body});
    EXPECT_EQ(rows.front().at(0), "t");
    EXPECT_EQ(rows.front().at(1), std::to_string(1 << 20));
}

TEST_P(Characters, RowThatMakesNoSubjectStopsTheRelayBeforeIt) {
    bench.create_table();
    bench.set_delivery("on_poison = 'halt'");
    bench.start();
    bench.execute(insert_event(1));
    insert("", "{}");
    const auto end = bench.wal_end();
    bench.execute(insert_event(2));
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    EXPECT_NE(bench.relay().log().find("\"aggregate_type\" is empty"), std::string::npos);
    EXPECT_TRUE(exactly_once_in_order({event_id(1)}, bench.events()));
    EXPECT_EQ(bench.slot("confirmed_flush_lsn < " + as_literal(end) + "::pg_lsn"), "t");

    // A subject that can do without the column lets everything through.
    bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'");
    bench.start();
    EXPECT_TRUE(bench.wait_for_messages(3));
    bench.stop();
    EXPECT_EQ(bench.events().back().id, event_id(2));
}

TEST_P(Characters, DatabaseThatIsNotUtf8IsRefused) {
    for (const std::string encoding : {"LATIN1", "SQL_ASCII"}) {
        relay_bench odd(shared_postgres(), shared_nats(), GetParam(), encoding);
        odd.create_table();
        const auto run = odd.command({"run"});
        EXPECT_EQ(run.exit_code, 3) << run.errors;
        EXPECT_NE(run.errors.find("UTF8"), std::string::npos) << run.errors;
        EXPECT_NE(run.errors.find(encoding), std::string::npos) << run.errors;
        EXPECT_FALSE(odd.slot("slot_name").has_value()) << "a slot was created all the same";
    }
}

INSTANTIATE_TEST_SUITE_P(, Characters, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
