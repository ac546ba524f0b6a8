// The pgoutput decoder, message by message, with bytes built here; see captures_test.cpp for those
// of a real server.
#include "wal/pgoutput/pgoutput_decoder.hpp"

#include "core/bytea_text.hpp"
#include "core/type_oid.hpp"
#include "unit/wal/change_text.hpp"
#include "unit/wal/wire.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay::wal {
namespace {

using walrelay::testing::to_text;
using walrelay::testing::wire;

constexpr std::uint32_t table_oid = 16'400;
constexpr std::uint32_t text_oid = 25;

std::string begin_bytes(std::uint64_t commit = 0x50) {
    return wire{}.type('B').int64(commit).int64(1'000'000).int32(700).bytes();
}

std::string commit_bytes(std::uint64_t commit = 0x50, std::uint64_t end = 0x60) {
    return wire{}.type('C').int8(0).int64(commit).int64(end).int64(1'000'000).bytes();
}

wire& add_column(wire& bytes, std::string_view name, std::uint32_t type) {
    return bytes.int8(0).text(name).int32(type).int32(0xFFFFFFFF);
}

std::string relation_bytes(std::string_view second_column = "name",
                           std::uint32_t second_type = text_oid) {
    wire bytes;
    bytes.type('R').int32(table_oid).text("public").text("events").type('d').int16(2);
    add_column(add_column(bytes, "id", 20), second_column, second_type);
    return bytes.bytes();
}

wire insert_head(std::uint16_t columns = 2) {
    return wire{}.type('I').int32(table_oid).type('N').int16(columns);
}

std::string insert_bytes() {
    return insert_head().value("7").value("seven").bytes();
}

std::string update_bytes() {
    return wire{}
        .type('U')
        .int32(table_oid)
        .type('K')
        .int16(2)
        .value("7")
        .type('n')
        .type('N')
        .int16(2)
        .value("8")
        .type('u')
        .bytes();
}

std::string delete_bytes() {
    return wire{}.type('D').int32(table_oid).type('K').int16(1).value("7").bytes();
}

std::string truncate_bytes() {
    return wire{}.type('T').int32(2).int8(3).int32(table_oid).int32(1).bytes();
}

std::string message_bytes(std::uint8_t flags) {
    return wire{}.type('M').int8(flags).int64(5).text("prefix").int32(2).raw("{}").bytes();
}

std::string type_bytes() {
    return wire{}.type('Y').int32(16'500).text("public").text("mood").bytes();
}

std::string origin_bytes() {
    return wire{}.type('O').int64(9).text("elsewhere").bytes();
}

/// A decoder within a transaction, with one table known.
class PgoutputRow : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(decoder_.decode(begin_bytes()));
        ASSERT_TRUE(decoder_.decode(relation_bytes()));
    }

    error refused(const std::string& bytes) {
        const auto decoded = decoder_.decode(bytes);
        EXPECT_FALSE(decoded);
        return decoded ? error{} : decoded.error();
    }

    pgoutput_decoder decoder_;
};

TEST(Pgoutput, HasTheTransactionId) {
    pgoutput_decoder decoder;
    EXPECT_EQ(std::get<transaction_begin>(*decoder.decode(begin_bytes())).xid, 700);
}

TEST(Pgoutput, DecodesATransaction) {
    pgoutput_decoder decoder;
    EXPECT_EQ(to_text(*decoder.decode(begin_bytes())), "begin 0/50 at 2000-01-01 00:00:01.000000");
    EXPECT_EQ(to_text(*decoder.decode(relation_bytes())), "nothing to relay");
    EXPECT_EQ(to_text(*decoder.decode(insert_bytes())),
              R"(insert public.events id:20="7" name:25="seven")");
    EXPECT_EQ(to_text(*decoder.decode(commit_bytes())), "commit 0/50 end 0/60");
    EXPECT_TRUE(decoder.decode(begin_bytes(0x70)));
}

TEST_F(PgoutputRow, HasNullApartFromTheEmptyText) {
    const auto bytes = insert_head().type('n').value("").bytes();
    EXPECT_EQ(to_text(*decoder_.decode(bytes)), R"(insert public.events id:20=null name:25="")");
}

TEST_F(PgoutputRow, IsAViewIntoThePayload) {
    const auto bytes = insert_bytes();
    const auto decoded = decoder_.decode(bytes);
    const auto row = std::get<row_insert>(*decoded);
    EXPECT_EQ(row.fields[1]->data() + row.fields[1]->size(), bytes.data() + bytes.size());
}

TEST_F(PgoutputRow, HasByteaWithoutItsPrefix) {
    ASSERT_TRUE(decoder_.decode(relation_bytes("name", oid::bytea)));
    const auto bytes = insert_head().value("7").value("\\x00ff").bytes();
    EXPECT_EQ(to_text(*decoder_.decode(bytes)), R"(insert public.events id:20="7" name:17="00ff")");
    const auto escape_form = insert_head().value("7").value("abc").bytes();
    EXPECT_EQ(refused(escape_form).code, errc::frame_malformed);
}

TEST_F(PgoutputRow, NeedsItsRelation) {
    const auto bytes = wire{}.type('I').int32(1).type('N').int16(0).bytes();
    const auto failure = refused(bytes);
    EXPECT_EQ(failure.code, errc::frame_malformed);
    EXPECT_EQ(failure.what,
              "pgoutput Insert message: 'relation oid' at byte 1 is 1, which no Relation message "
              "described");
}

TEST_F(PgoutputRow, HasAsManyColumnsAsItsRelation) {
    const auto failure = refused(insert_head(1).value("7").bytes());
    EXPECT_EQ(failure.code, errc::frame_malformed);
    EXPECT_EQ(failure.what,
              "pgoutput Insert message: 'number of columns' at byte 6 is 1, but public.events has "
              "2");
    EXPECT_EQ(refused(insert_head(3).value("7").value("").type('n').bytes()).code,
              errc::frame_malformed);
}

TEST_F(PgoutputRow, HasNoUnchangedAndNoBinaryValues) {
    EXPECT_EQ(refused(insert_head().value("7").type('u').bytes()).code, errc::frame_unexpected);
    EXPECT_EQ(refused(insert_head().value("7").type('b').int32(1).raw("x").bytes()).code,
              errc::frame_unexpected);
    EXPECT_EQ(refused(insert_head().value("7").type('x').bytes()).code, errc::frame_malformed);
}

TEST_F(PgoutputRow, IsANewRow) {
    const auto bytes = wire{}.type('I').int32(table_oid).type('K').int16(0).bytes();
    EXPECT_EQ(refused(bytes).code, errc::frame_malformed);
}

TEST_F(PgoutputRow, SaysWhereAValueIsCut) {
    const auto bytes = insert_head().value("7").type('t').int32(0xFFFFFFFF).raw("abc").bytes();
    const auto failure = refused(bytes);
    EXPECT_EQ(failure.code, errc::frame_truncated);
    EXPECT_EQ(
        failure.what,
        "pgoutput Insert message: 'value' at byte 19 needs 4294967295 bytes, only 3 are left");
}

TEST(Pgoutput, TakesRowsAndCommitsOnlyInsideATransaction) {
    for (const auto& bytes : {insert_bytes(), commit_bytes(), update_bytes(), delete_bytes(),
                              truncate_bytes(), origin_bytes()}) {
        pgoutput_decoder decoder;
        ASSERT_TRUE(decoder.decode(relation_bytes()));
        const auto decoded = decoder.decode(bytes);
        ASSERT_FALSE(decoded) << bytes.front();
        EXPECT_EQ(decoded.error().code, errc::frame_unexpected) << bytes.front();
    }
}

TEST_F(PgoutputRow, StandsInOneTransactionOnly) {
    EXPECT_EQ(refused(begin_bytes(0x70)).code, errc::frame_unexpected);
    EXPECT_EQ(refused(commit_bytes(0x51)).code, errc::frame_malformed);
    EXPECT_EQ(refused(commit_bytes(0x50, 0x50)).code, errc::frame_malformed);
    auto flagged = commit_bytes();
    flagged[1] = 1;
    EXPECT_EQ(refused(flagged).code, errc::frame_malformed);
}

TEST_F(PgoutputRow, MayStandBesideWhatIsNotRelayed) {
    for (const auto& bytes : {update_bytes(), delete_bytes(), truncate_bytes(), type_bytes(),
                              origin_bytes(), message_bytes(0)}) {
        EXPECT_EQ(to_text(*decoder_.decode(bytes)), "nothing to relay") << bytes.front();
    }
}

TEST_F(PgoutputRow, MayStandBesideAMessageOfItsTransaction) {
    EXPECT_EQ(to_text(*decoder_.decode(message_bytes(1))), "message prefix: \"{}\"");
    const auto empty = wire{}.type('M').int8(1).int64(5).text("").int32(0).bytes();
    EXPECT_EQ(to_text(*decoder_.decode(empty)), "message : \"\"");
}

TEST(Pgoutput, RefusesATransactionalMessageOutsideATransaction) {
    pgoutput_decoder decoder;
    const auto decoded = decoder.decode(message_bytes(1));
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, errc::frame_unexpected);
}

TEST(Pgoutput, TakesDescriptionsAndMessagesOutsideATransaction) {
    pgoutput_decoder decoder;
    for (const auto& bytes : {relation_bytes(), type_bytes(), message_bytes(0)}) {
        EXPECT_EQ(to_text(*decoder.decode(bytes)), "nothing to relay") << bytes.front();
    }
}

TEST_F(PgoutputRow, RefusesEveryCutAndEveryAddition) {
    for (const auto& whole :
         {relation_bytes(), insert_bytes(), update_bytes(), delete_bytes(), truncate_bytes(),
          type_bytes(), origin_bytes(), message_bytes(0), message_bytes(1), commit_bytes()}) {
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const auto failure = refused(whole.substr(0, length));
            EXPECT_EQ(failure.code, errc::frame_truncated) << whole.front() << length;
        }
        EXPECT_EQ(refused(whole + '\0').code, errc::frame_malformed) << whole.front();
    }
}

TEST_F(PgoutputRow, RefusesWhatWasNotAskedFor) {
    for (const char type : {'S', 'E', 'c', 'A', 'b', 'P', 'K', 'r', 'p'}) {
        const auto failure = refused(std::string(40, type));
        EXPECT_EQ(failure.code, errc::frame_unexpected) << type;
        EXPECT_FALSE(failure.remedy.empty()) << type;
    }
    EXPECT_EQ(refused(std::string(40, 'Z')).code, errc::frame_malformed);
}

TEST_F(PgoutputRow, RefusesValuesWithoutMeaningInWhatIsNotRelayed) {
    auto update = update_bytes();
    update[5] = 'X';
    auto deletion = delete_bytes();
    deletion[5] = 'N';
    auto truncate = truncate_bytes();
    truncate[5] = 4;
    for (const auto& bytes : {update, deletion, truncate, message_bytes(2)}) {
        EXPECT_EQ(refused(bytes).code, errc::frame_malformed) << bytes.front();
    }
}

TEST(PgoutputRelation, HasANewRevisionOnlyWhenItDiffers) {
    pgoutput_decoder decoder;
    ASSERT_TRUE(decoder.decode(begin_bytes()));
    const auto revision = [&decoder](const std::string& description) {
        EXPECT_TRUE(decoder.decode(description));
        return std::get<row_insert>(*decoder.decode(insert_bytes())).table->revision;
    };
    const auto first = revision(relation_bytes());
    EXPECT_NE(first, 0U);
    EXPECT_EQ(revision(relation_bytes()), first);
    const auto renamed = revision(relation_bytes("title"));
    EXPECT_GT(renamed, first);
    const auto retyped = revision(relation_bytes("title", 1043));
    EXPECT_GT(retyped, renamed);
    EXPECT_GT(revision(relation_bytes()), retyped);
}

TEST(PgoutputRelation, WithoutANamespaceIsInPgCatalog) {
    pgoutput_decoder decoder;
    ASSERT_TRUE(decoder.decode(begin_bytes()));
    ASSERT_TRUE(decoder.decode(
        wire{}.type('R').int32(table_oid).text("").text("t").type('n').int16(0).bytes()));
    const auto decoded = decoder.decode(insert_head(0).bytes());
    EXPECT_EQ(std::get<row_insert>(*decoded).table->schema, "pg_catalog");
}

TEST(PgoutputRelation, RefusesFlagsWithoutMeaning) {
    pgoutput_decoder decoder;
    auto identity = relation_bytes();
    identity[identity.find("events") + sizeof "events"] = 'z';
    EXPECT_EQ(decoder.decode(identity).error().code, errc::frame_malformed);
    auto flags = relation_bytes();
    flags[flags.find("id") - 1] = 2;
    EXPECT_EQ(decoder.decode(flags).error().code, errc::frame_malformed);
}

bool every_table(std::string_view /*schema*/, std::string_view /*name*/) {
    return true;
}

TEST_F(PgoutputRow, LeavesUpdatesAloneThatNobodyWants) {
    EXPECT_EQ(to_text(*decoder_.decode(update_bytes())), "nothing to relay");
    decoder_.want_updates([](std::string_view schema, std::string_view name) {
        return schema == "public" && name != "events";
    });
    EXPECT_EQ(to_text(*decoder_.decode(update_bytes())), "nothing to relay");
}

TEST_F(PgoutputRow, SaysWhatAnUpdateLeftWhereItWasStored) {
    decoder_.want_updates(every_table);
    EXPECT_EQ(to_text(*decoder_.decode(update_bytes())),
              R"(update public.events id="7"->"8" name=missing)");
}

TEST_F(PgoutputRow, TakesWhatAnUpdateLeftFromTheWholeOldRow) {
    decoder_.want_updates(every_table);
    wire bytes;
    bytes.type('U').int32(table_oid).type('O').int16(2).value("7").value("seven");
    bytes.type('N').int16(2).value("7").type('u');
    EXPECT_EQ(to_text(*decoder_.decode(bytes.bytes())),
              R"(update public.events id="7"->"7" name="seven"->"seven")");
}

TEST_F(PgoutputRow, KnowsTheWholeOldRowFromItsKey) {
    decoder_.want_updates(every_table);
    const auto is_whole = [&](char kind) {
        wire bytes;
        bytes.type('U').int32(table_oid).type(kind).int16(2).value("7").type('n');
        bytes.type('N').int16(2).value("7").type('n');
        const auto text = bytes.bytes();
        return std::get<row_update>(*decoder_.decode(text)).before_is_whole;
    };
    EXPECT_TRUE(is_whole('O'));
    EXPECT_FALSE(is_whole('K'));
}

TEST_F(PgoutputRow, HasNoOldRowOfAnUpdateThatLeavesTheKeyAlone) {
    decoder_.want_updates(every_table);
    wire bytes;
    bytes.type('U').int32(table_oid).type('N').int16(2).value("7").type('n');
    EXPECT_EQ(to_text(*decoder_.decode(bytes.bytes())), R"(update public.events id="7" name=null)");
}

TEST_F(PgoutputRow, LeavesLongValuesOutWhereItIsTooLarge) {
    decoder_.limit_rows(100'000);
    const auto bytes = insert_head().value("7").value(std::string(100'000, 'x')).bytes();
    const auto decoded = decoder_.decode(bytes);
    ASSERT_TRUE(decoded) << to_string(decoded.error());
    const auto& row = std::get<row_insert>(*decoded);
    EXPECT_EQ(row.too_large_bytes, bytes.size());
    EXPECT_EQ(row.fields[0], "7");
    EXPECT_EQ(row.fields[1], std::nullopt);
    const auto next = insert_bytes();
    EXPECT_EQ(std::get<row_insert>(*decoder_.decode(next)).too_large_bytes, 0U);
}

TEST_F(PgoutputRow, RefusesAnUpdateThatEndsAnywhereElse) {
    decoder_.want_updates(every_table);
    const auto whole = update_bytes();
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_FALSE(decoder_.decode(whole.substr(0, length))) << length;
    }
    EXPECT_FALSE(decoder_.decode(whole + "x"));
}

}  // namespace
}  // namespace walrelay::wal
