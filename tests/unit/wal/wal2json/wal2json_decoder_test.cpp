// The wal2json decoder, object by object, with JSON written here; see captures_test.cpp for that of
// a real server.
#include "wal/wal2json/wal2json_decoder.hpp"

#include "unit/wal/change_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace walrelay::wal {
namespace {

using walrelay::testing::to_text;

constexpr const char* begin_json =
    R"({"action":"B","timestamp":"2026-01-31 12:34:56.5+00","lsn":"0/50","nextlsn":"0/60"})";
constexpr const char* commit_json =
    R"({"action":"C","timestamp":"2026-01-31 12:34:56.5+00","lsn":"0/50","nextlsn":"0/60"})";

constexpr const char* message_json =
    R"({"action":"M","timestamp":"2026-01-31 12:34:56.5+00","lsn":"0/40","transactional":true,)"
    R"("prefix":"walrelay","content":"{\"}"})";

std::string insert_json(const std::string& columns) {
    return R"({"action":"I","timestamp":"2026-01-31 12:34:56.5+00","lsn":"0/40",)"
           R"("schema":"public","table":"events","columns":[)" +
           columns + "]}";
}

std::string column_json(const std::string& value, const std::string& type = "25") {
    return R"({"name":"c","typeoid":)" + type + R"(,"value":)" + value + "}";
}

/// A decoder within a transaction.
class Wal2jsonRow : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(decoder_.decode(begin_json)); }

    std::string text_of(const std::string& json) {
        const auto decoded = decoder_.decode(json);
        return decoded ? to_text(*decoded) : "error: " + to_string(decoded.error());
    }

    error refused(const std::string& json) {
        const auto decoded = decoder_.decode(json);
        EXPECT_FALSE(decoded) << json;
        return decoded ? error{} : decoded.error();
    }

    std::uint64_t revision_of(const std::string& columns) {
        const auto decoded = decoder_.decode(insert_json(columns));
        return std::get<row_insert>(*decoded).table->revision;
    }

    wal2json_decoder decoder_;
};

TEST(Wal2json, DecodesATransaction) {
    wal2json_decoder decoder;
    EXPECT_EQ(to_text(*decoder.decode(begin_json)), "begin 0/50 at 2026-01-31 12:34:56.500000");
    EXPECT_EQ(to_text(*decoder.decode(insert_json(column_json(R"("seven")")))),
              R"(insert public.events c:25="seven")");
    EXPECT_EQ(to_text(*decoder.decode(commit_json)), "commit 0/50 end 0/60");
    EXPECT_TRUE(decoder.decode(begin_json));
}

TEST_F(Wal2jsonRow, HasEveryKindOfValueAsPostgresqlPrintsIt) {
    const auto value = [this](const std::string& json) {
        return text_of(insert_json(column_json(json)));
    };
    EXPECT_EQ(value("null"), "insert public.events c:25=null");
    EXPECT_EQ(value("true"), R"(insert public.events c:25="t")");
    EXPECT_EQ(value("false"), R"(insert public.events c:25="f")");
    EXPECT_EQ(value(R"("")"), R"(insert public.events c:25="")");
    EXPECT_EQ(value(R"("null")"), R"(insert public.events c:25="null")");
    EXPECT_EQ(value(R"("\u0001\t\"\\\/é😀")"), R"(insert public.events c:25="\x01\x09\"\\/é😀")");
}

TEST_F(Wal2jsonRow, HasNumbersDigitForDigit) {
    for (const std::string number : {"0", "-1", "1.50", "-0.000", "12345678901234567890.0123456789",
                                     "1e+40", "5e-324", "9223372036854775807"}) {
        EXPECT_EQ(text_of(insert_json(column_json(number, "1700"))),
                  "insert public.events c:1700=\"" + number + '"');
    }
}

TEST_F(Wal2jsonRow, HasBlanksOutsideOfNumbersOnly) {
    EXPECT_EQ(text_of(insert_json(R"( { "name" : "c" , "typeoid" : 23 , "value" : 42 } )")),
              R"(insert public.events c:23="42")");
}

TEST_F(Wal2jsonRow, RefusesValuesThatWal2jsonDoesNotWrite) {
    for (const std::string value : {"[1]", "{}", "nul", "truely", "1a", "NaN", "-", "e", ""}) {
        EXPECT_EQ(refused(insert_json(column_json(value))).code, errc::frame_malformed) << value;
    }
}

TEST_F(Wal2jsonRow, HasTypesOfTheUpperHalfPrintedNegative) {
    EXPECT_EQ(text_of(insert_json(column_json("1", "-1"))),
              R"(insert public.events c:4294967295="1")");
    EXPECT_EQ(text_of(insert_json(column_json("1", "4294967295"))),
              R"(insert public.events c:4294967295="1")");
    for (const std::string oid :
         {"0", "4294967296", "-2147483649", "25.0", R"("25")", "null", "x"}) {
        EXPECT_EQ(refused(insert_json(column_json("1", oid))).code, errc::frame_malformed) << oid;
    }
}

TEST_F(Wal2jsonRow, DoesNotDependOnTheOrderOfMembers) {
    EXPECT_EQ(text_of(R"({"columns":[{"value":1,"typeoid":23,"name":"c"}],"table":"events",)"
                      R"("schema":"public","action":"I"})"),
              R"(insert public.events c:23="1")");
}

TEST_F(Wal2jsonRow, SkipsMembersThatItDoesNotKnow) {
    EXPECT_EQ(
        text_of(R"({"action":"I","xid":5,"origin":{"a":[1,{"b":2}]},"schema":"s","table":"t",)"
                R"("columns":[{"name":"c","type":"integer","typeoid":23,"value":1,)"
                R"("optional":true,"position":1}],"pk":[{"name":"c","type":"integer"}]})"),
        R"(insert s.t c:23="1")");
}

TEST(Wal2jsonDecoder, HasTheTransactionIdWhereItWasAskedFor) {
    const auto begin_with = [](const std::string& xid) {
        wal2json_decoder decoder;
        return decoder.decode(R"({"lsn":"0/50","action":"B","xid":)" + xid +
                              R"(,"timestamp":"2026-01-31 12:34:56.5+00"})");
    };
    EXPECT_EQ(std::get<transaction_begin>(*begin_with("4294967295")).xid, 4294967295U);
    EXPECT_EQ(std::get<transaction_begin>(*begin_with("null")).xid, std::nullopt);
    wal2json_decoder without;
    EXPECT_EQ(std::get<transaction_begin>(*without.decode(begin_json)).xid, std::nullopt);
    for (const std::string bad : {"4294967296", "-1", "\"734\"", "7.5", R"(7,"xid":7)"}) {
        ASSERT_FALSE(begin_with(bad)) << bad;
        EXPECT_EQ(begin_with(bad).error().code, errc::frame_malformed) << bad;
    }
}

TEST_F(Wal2jsonRow, RefusesAMemberThatIsMissing) {
    for (const auto* json :
         {R"({"schema":"s","table":"t","columns":[]})",
          R"({"action":"I","table":"t","columns":[]})",
          R"({"action":"I","schema":"s","columns":[]})",
          R"({"action":"I","schema":"s","table":"t"})",
          R"({"action":null,"schema":"s","table":"t","columns":[]})",
          R"({"action":"C","lsn":"0/50"})", R"({"action":"C","nextlsn":"0/60"})"}) {
        EXPECT_EQ(refused(json).code, errc::frame_malformed) << json;
    }
    for (const auto* column : {R"({"typeoid":23,"value":1})", R"({"name":"c","value":1})",
                               R"({"name":"c","typeoid":23})", "{}"}) {
        EXPECT_EQ(refused(insert_json(column)).code, errc::frame_malformed) << column;
    }
}

TEST_F(Wal2jsonRow, NamesTheVersionThatIsNeededForARowOfAnOlderOne) {
    // As 2.3 sends it, whatever include-type-oids says.
    const auto old = refused(R"({"action":"I","timestamp":"2026-01-31 12:34:56.5+00",)"
                             R"("lsn":"0/15EA608","schema":"public","table":"t","columns":)"
                             R"([{"name":"id","value":1},{"name":"a","value":"x"}]})");
    EXPECT_NE(old.what.find("older than 2.5"), std::string::npos) << old.what;
    EXPECT_NE(old.remedy.find("install wal2json 2.5"), std::string::npos) << old.remedy;
    EXPECT_NE(old.remedy.find("postgres.plugin = \"pgoutput\""), std::string::npos) << old.remedy;
}

TEST_F(Wal2jsonRow, RefusesAMemberThatStandsTwice) {
    for (const auto* json :
         {R"({"action":"M","action":"B"})", R"({"action":"I","schema":"s","schema":"s"})",
          R"({"action":"I","columns":[],"columns":[],"schema":"s","table":"t"})"}) {
        EXPECT_EQ(refused(json).code, errc::frame_malformed) << json;
    }
    EXPECT_EQ(refused(insert_json(R"({"name":"c","name":"d","typeoid":23,"value":1})")).code,
              errc::frame_malformed);
    EXPECT_EQ(refused(insert_json(R"({"name":"c","typeoid":23,"value":null,"value":1})")).code,
              errc::frame_malformed);
}

TEST_F(Wal2jsonRow, RefusesMembersOfTheWrongKind) {
    for (const auto* json :
         {R"({"action":1})", R"({"action":"X"})", R"({"action":""})", R"({"action":"II"})",
          R"({"action":"I","schema":{},"table":"t","columns":[]})",
          R"({"action":"I","schema":"s","table":"t","columns":{}})",
          R"({"action":"I","schema":"s","table":"t","columns":[1]})",
          R"({"action":"I","schema":"s","table":"t","columns":null})",
          R"({"action":"C","lsn":"50","nextlsn":"0/60"})",
          R"({"action":"C","lsn":"0/50","nextlsn":60})", "[]", "1", "null", R"("text")"}) {
        EXPECT_EQ(refused(json).code, errc::frame_malformed) << json;
    }
}

TEST_F(Wal2jsonRow, SaysWhereItCannotBeRead) {
    const auto failure = refused(insert_json(column_json("[]")));
    EXPECT_EQ(failure.what,
              "wal2json object: 'value' at byte 145 is none of string, number, true, false, null");
    EXPECT_EQ(refused(R"({"action":"C","lsn":"0-50","nextlsn":"0/60"})").what,
              "wal2json object: 'lsn' at byte 20 is no LSN");
}

TEST_F(Wal2jsonRow, RefusesEveryCutAndEveryAddition) {
    const auto insert = insert_json(column_json(R"("a\"}")") + "," + column_json("1", "23"));
    for (const std::string& whole :
         {insert, std::string{commit_json}, std::string{message_json},
          std::string{R"({"action":"U","columns":[{"a":{}}],"identity":[]})"}}) {
        for (std::size_t length = 0; length < whole.size(); ++length) {
            EXPECT_FALSE(decoder_.decode(whole.substr(0, length))) << whole.substr(0, length);
        }
        for (const std::string more : {"x", "}", "{}", ",", "]", "\"", "1"}) {
            EXPECT_FALSE(decoder_.decode(whole + more)) << whole + more;
        }
    }
}

TEST_F(Wal2jsonRow, RefusesTextThatIsNotUtf8) {
    EXPECT_EQ(refused(insert_json(column_json("\"\xe9\""))).code, errc::frame_malformed);
}

TEST(Wal2json, TakesRowsAndCommitsOnlyInsideATransaction) {
    for (const std::string& json :
         {insert_json(column_json("1")), std::string{commit_json}, std::string{R"({"action":"U"})"},
          std::string{R"({"action":"D"})"}, std::string{R"({"action":"T"})"}}) {
        wal2json_decoder decoder;
        const auto decoded = decoder.decode(json);
        ASSERT_FALSE(decoded) << json;
        EXPECT_EQ(decoded.error().code, errc::frame_unexpected) << json;
    }
}

TEST_F(Wal2jsonRow, StandsInOneTransactionOnly) {
    EXPECT_EQ(refused(begin_json).code, errc::frame_unexpected);
    EXPECT_EQ(refused(R"({"action":"C","lsn":"0/51","nextlsn":"0/60"})").code,
              errc::frame_malformed);
}

TEST_F(Wal2jsonRow, MayStandBesideWhatIsNotRelayed) {
    for (const auto* json :
         {R"({"action":"U","schema":"s","table":"t","columns":[{"odd":1}],"identity":[]})",
          R"({"action":"D","schema":"s","table":"t","identity":[]})",
          R"({"action":"T","schema":"s","table":"t"})",
          R"({"action":"M","xid":null,"timestamp":null,"lsn":null,"transactional":false,)"
          R"("prefix":"walrelay","content":"c"})"}) {
        EXPECT_EQ(text_of(json), "nothing to relay") << json;
    }
}

TEST(Wal2json, KeepsReadingBehindAMessageWhoseBytesAreNoUtf8) {
    wal2json_decoder decoder;
    ASSERT_TRUE(decoder.decode(begin_json));
    const auto decoded = decoder.decode(
        "{\"action\":\"M\",\"transactional\":true,\"prefix\":\"p\",\"content\":\"{a\xff\xc3\xbc}"
        "\"}");
    ASSERT_TRUE(decoded) << to_string(decoded.error());
    const auto* const said = std::get_if<logical_message>(&*decoded);
    ASSERT_NE(said, nullptr);
    EXPECT_EQ(said->content,
              "{a\x01"
              "ff\x01"
              "c3\x01"
              "bc}");
    EXPECT_TRUE(decoder.decode(commit_json));
}

TEST(Wal2json, TakesBytesThatAreNoUtf8NowhereElse) {
    wal2json_decoder decoder;
    ASSERT_TRUE(decoder.decode(begin_json));
    EXPECT_FALSE(decoder.decode(insert_json("{\"name\":\"c\",\"typeoid\":25,\"value\":\"\xff\"}")));
}

TEST_F(Wal2jsonRow, MayStandBesideAMessageOfItsTransaction) {
    EXPECT_EQ(text_of(message_json), R"(message walrelay: "{\"}")");
    EXPECT_EQ(text_of(R"({"content":"","prefix":"","transactional":true,"action":"M"})"),
              R"(message : "")");
}

TEST_F(Wal2jsonRow, RefusesAMessageThatIsNotWhole) {
    for (const auto* json :
         {R"({"action":"M","prefix":"p","content":"c"})",
          R"({"action":"M","transactional":true,"content":"c"})",
          R"({"action":"M","transactional":true,"prefix":"p"})",
          R"({"action":"M","transactional":null,"prefix":"p","content":"c"})",
          R"({"action":"M","transactional":"true","prefix":"p","content":"c"})",
          R"({"action":"M","transactional":true,"prefix":1,"content":"c"})",
          R"({"action":"M","transactional":true,"transactional":false,"prefix":"p"})",
          R"({"action":"M","transactional":true,"prefix":"p","content":null})"}) {
        EXPECT_EQ(refused(json).code, errc::frame_malformed) << json;
    }
}

TEST(Wal2json, TakesOnlyMessagesOfNoTransactionOutsideOne) {
    wal2json_decoder decoder;
    const auto alone = decoder.decode(
        R"({"action":"M","lsn":"0/1","transactional":false,"prefix":"p","content":"c"})");
    ASSERT_TRUE(alone);
    EXPECT_EQ(to_text(*alone), "nothing to relay");
    const auto lost = decoder.decode(message_json);
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, errc::frame_unexpected);
}

TEST(Wal2json, NeedsTimesInUtc) {
    wal2json_decoder decoder;
    const auto decoded = decoder.decode(
        R"({"action":"B","timestamp":"2026-01-31 12:34:56.5+01","lsn":"0/50","nextlsn":"0/60"})");
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, errc::frame_malformed);
    EXPECT_NE(decoded.error().remedy.find("timezone"), std::string::npos);
}

TEST_F(Wal2jsonRow, HasANewRevisionOnlyWhenItsTableDiffers) {
    const std::string a = R"({"name":"a","typeoid":25,"value":"1"})";
    const std::string b = R"({"name":"b","typeoid":25,"value":"1"})";
    const std::string retyped = R"({"name":"b","typeoid":23,"value":1})";
    const auto first = revision_of(a + "," + b);
    EXPECT_NE(first, 0U);
    EXPECT_EQ(revision_of(a + "," + b), first);
    const auto swapped = revision_of(b + "," + a);
    EXPECT_GT(swapped, first);
    const auto shorter = revision_of(b);
    EXPECT_GT(shorter, swapped);
    EXPECT_GT(revision_of(retyped), shorter);
}

TEST_F(Wal2jsonRow, KeepsTablesOfOtherNamesApart) {
    const auto revision = [this](const std::string& schema, const std::string& table) {
        const auto decoded =
            decoder_.decode(R"({"action":"I","schema":")" + schema + R"(","table":")" + table +
                            R"(","columns":[{"name":"a","typeoid":25,"value":"1"}]})");
        return std::get<row_insert>(*decoded).table->revision;
    };
    const auto first = revision("s", "t");
    const auto other_schema = revision("r", "t");
    const auto other_table = revision("s", "u");
    EXPECT_NE(first, other_schema);
    EXPECT_NE(first, other_table);
    EXPECT_EQ(revision("s", "t"), first);
    EXPECT_EQ(revision("r", "t"), other_schema);
}

std::string update_json(const std::string& columns, const std::string& identity) {
    return R"({"action":"U","timestamp":"2026-01-31 12:34:56.5+00","lsn":"0/40",)"
           R"("schema":"public","table":"events","columns":[)" +
           columns + R"(],"identity":[)" + identity + "]}";
}

std::string named_json(const std::string& name, const std::string& value) {
    return R"({"name":")" + name + R"(","typeoid":25,"value":)" + value + "}";
}

TEST_F(Wal2jsonRow, KnowsTheWholeOldRowFromItsKey) {
    decoder_.want_updates([](std::string_view, std::string_view) { return true; });
    const auto is_whole = [&](const std::string& identity) {
        const auto json =
            update_json(named_json("a", "\"1\"") + "," + named_json("b", "null"), identity);
        const auto decoded = decoder_.decode(json);
        return std::get<row_update>(decoded.value()).before_is_whole;
    };
    EXPECT_TRUE(is_whole(named_json("a", "\"1\"") + "," + named_json("b", "null")));
    EXPECT_FALSE(is_whole(named_json("a", "\"1\"")));
}

TEST_F(Wal2jsonRow, LeavesLongValuesOutOfARowThatIsTooLarge) {
    decoder_.limit_rows(100'000);
    const std::string text(100'000, 'x');
    const std::string short_text(1000, 'y');
    const auto json = R"({"action":"I","schema":"public","table":"events","columns":[)" +
                      named_json("a", '"' + text + '"') + "," +
                      named_json("b", '"' + short_text + '"') + "]}";
    const auto decoded = decoder_.decode(json);
    ASSERT_TRUE(decoded) << to_string(decoded.error());
    const auto& row = std::get<row_insert>(*decoded);
    EXPECT_EQ(row.too_large_bytes, json.size());
    EXPECT_EQ(row.fields[0], std::nullopt);
    EXPECT_EQ(row.fields[1], short_text);
}

TEST_F(Wal2jsonRow, LeavesTheContentOutOfAMessageThatIsTooLarge) {
    decoder_.limit_rows(100'000);
    const auto said = [](const std::string& prefix, const std::string& content) {
        return R"({"action":"M","transactional":true,"prefix":")" + prefix + R"(","content":")" +
               content + "\"}";
    };
    const auto decoded = decoder_.decode(said("orders", std::string(100'000, '\n')));
    ASSERT_TRUE(decoded) << to_string(decoded.error());
    EXPECT_EQ(std::get<logical_message>(*decoded).prefix, "orders");
    EXPECT_GT(std::get<logical_message>(*decoded).too_large_bytes, 100'000U);
    const auto odd = decoder_.decode(said(std::string(100'000, 'p'), ""));
    ASSERT_TRUE(odd) << to_string(odd.error());
    EXPECT_TRUE(std::holds_alternative<nothing_to_relay>(*odd));
}

TEST_F(Wal2jsonRow, LeavesUpdatesAloneThatNobodyWants) {
    const auto json = update_json(named_json("a", "\"1\""), named_json("a", "\"1\""));
    EXPECT_EQ(text_of(json), "nothing to relay");
    decoder_.want_updates([](std::string_view, std::string_view name) { return name != "events"; });
    EXPECT_EQ(text_of(json), "nothing to relay");
}

TEST_F(Wal2jsonRow, PutsTheOldRowBesideTheNewOne) {
    decoder_.want_updates([](std::string_view, std::string_view) { return true; });
    EXPECT_EQ(text_of(update_json(named_json("a", "\"2\"") + "," + named_json("b", "null"),
                                  named_json("a", "\"1\""))),
              R"(update public.events a="1"->"2" b=null)");
}

TEST_F(Wal2jsonRow, TakesWhatAnUpdateLeftFromTheWholeOldRow) {
    decoder_.want_updates([](std::string_view, std::string_view) { return true; });
    EXPECT_EQ(text_of(update_json(named_json("a", "\"2\""),
                                  named_json("a", "\"1\"") + "," + named_json("b", "\"x\""))),
              R"(update public.events a="1"->"2" b="x"->"x")");
}

TEST_F(Wal2jsonRow, KeepsTheDescriptionsOfInsertsAndUpdatesApart) {
    decoder_.want_updates([](std::string_view, std::string_view) { return true; });
    const auto columns = named_json("a", "\"1\"") + "," + named_json("b", "\"x\"");
    const auto inserted = revision_of(columns);
    const auto decoded = decoder_.decode(update_json(named_json("a", "\"1\""), ""));
    EXPECT_NE(std::get<row_update>(*decoded).table->revision, inserted);
    EXPECT_EQ(revision_of(columns), inserted);
}

TEST_F(Wal2jsonRow, DescribesOnlySoManyTablesAtATime) {
    const auto revision = revision_of(column_json("1"));
    for (std::size_t number = 0; number < wal2json_relations::tables_max; ++number) {
        auto json = insert_json(column_json("1"));
        json.replace(json.find("events"), 6, "job_" + std::to_string(number));
        ASSERT_TRUE(decoder_.decode(json));
    }
    EXPECT_NE(revision_of(column_json("1")), revision) << "forgotten meanwhile";
    EXPECT_EQ(text_of(insert_json(column_json("1"))), text_of(insert_json(column_json("1"))));
}

/// So that a large frame can be freed before its row becomes a message.
TEST_F(Wal2jsonRow, OfALargePayloadOutlivesIt) {
    const auto columns = [](const std::string& text) {
        return column_json('"' + text + '"') + R"(,{"name":"n","typeoid":23,"value":12345},)" +
               R"({"name":"b","typeoid":16,"value":true},{"name":"z","typeoid":25,"value":null})";
    };
    const std::string large(std::size_t{2} << 20U, 'x');
    // The first is read by the parser, or describes the table; the others by the exact reader.
    for (int time = 0; time < 3; ++time) {
        auto json = std::make_unique<std::string>(insert_json(columns(large)));
        const auto decoded = decoder_.decode(*json);
        ASSERT_TRUE(decoded);
        ASSERT_TRUE(decoder_.outlives_payload());
        std::ranges::fill(*json, '?');
        json.reset();
        const auto& fields = std::get<row_insert>(*decoded).fields;
        ASSERT_EQ(fields.size(), 4U);
        EXPECT_EQ(fields[0], large);
        EXPECT_EQ(fields[1], "12345");
        EXPECT_EQ(fields[2], "t");
        EXPECT_EQ(fields[3], std::nullopt);
    }
    EXPECT_TRUE(decoder_.decode(insert_json(columns("small"))));
    EXPECT_FALSE(decoder_.outlives_payload());
}

}  // namespace
}  // namespace walrelay::wal
