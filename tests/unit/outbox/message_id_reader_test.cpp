#include "outbox/message_id_reader.hpp"

#include "unit/outbox/sample_row.hpp"

#include <gtest/gtest.h>

namespace walrelay::test {
namespace {

outbox_table table_with(const std::string& message_id) {
    auto table = usual_table();
    table.message_id = message_id;
    return table;
}

/// The id that a row of the usual columns and one more gets from a query.
result<std::string> read(const std::string& message_id, const column& extra,
                         const std::vector<field>& values) {
    sample_row row;
    fill_usual(row);
    row.with(extra.name, extra.type, "x");
    auto reader = outbox::message_id_reader::make(table_with(message_id), row.columns(),
                                                  {{5000, type::bytea}});
    if (!reader) {
        return reader.error();
    }
    std::string id = "old";
    if (auto made = reader->read(values, id); !made) {
        return made.error();
    }
    return id;
}

TEST(MessageIdReader, NeedsOnlyTheColumnsOfTheIdAndEachOnce) {
    sample_row row;
    fill_usual(row);
    const auto reader =
        outbox::message_id_reader::make(table_with("{version}-{id}-{version}"), row.columns(), {});
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->columns(), (std::vector<std::string>{"version", "id"}));
}

TEST(MessageIdReader, MakesTheSameIdAsTheRelay) {
    for (const std::string value : {"7", " Nats-Msg-Id: 7\n%", "a;b", "\u00e4"}) {
        sample_row row;
        fill_usual(row);
        row.with("extra", type::text, value);
        const auto table = table_with("{id}/{extra}");
        auto reader = outbox::message_id_reader::make(table, row.columns(), {});
        ASSERT_TRUE(reader);
        std::string id;
        ASSERT_TRUE(reader->read(std::vector<field>{"42", value}, id));
        EXPECT_EQ(id, map_row(table, row).id);
    }
}

TEST(MessageIdReader, ReadsByteaAsAQueryGivesIt) {
    EXPECT_EQ(*read("{raw}", {"raw", type::bytea}, {"\\x00ff"}), "00ff");
    EXPECT_EQ(*read("{raw}", {"raw", 5000}, {"\\x00ff"}), "00ff") << "a domain over bytea";
    EXPECT_EQ(*read("{raw}", {"raw", type::text}, {"\\x00ff"}), "\\x00ff");
}

TEST(MessageIdReader, FallsBackToTheNextColumnWhereOneIsNull) {
    const column key{"key", type::text};
    EXPECT_EQ(*read("{key|id}", key, {"k-1", "7"}), "k-1");
    EXPECT_EQ(*read("{key|id}", key, {std::nullopt, "7"}), "7");
    EXPECT_FALSE(read("{key|id}", key, {std::nullopt, std::nullopt}));
    EXPECT_FALSE(read("{key|id}", key, {"", "7"})) << "only NULL is nothing";
    EXPECT_FALSE(read("{key|absent}", key, {"k-1"}));
}

TEST(MessageIdReader, RefusesWhatTheRelayRefuses) {
    const column extra{"extra", type::text};
    const auto null = read("{extra}", extra, {std::nullopt});
    ASSERT_FALSE(null);
    EXPECT_EQ(null.error().code, errc::row_unmappable);
    EXPECT_NE(null.error().what.find("\"extra\" is NULL"), std::string::npos) << null.error().what;
    EXPECT_FALSE(read("{extra}", extra, {""}));
    EXPECT_FALSE(read("{absent}", extra, {"1"}));
    EXPECT_FALSE(read("{", extra, {"1"}));
}

}  // namespace
}  // namespace walrelay::test
