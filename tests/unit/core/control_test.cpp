#include "core/control.hpp"

#include "core/sql_text.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

TEST(SqlText, FindsAColumnOutsideOfQuotedText) {
    EXPECT_TRUE(mentions_column("status = 'sent'", "status"));
    EXPECT_TRUE(mentions_column("sent_at = now(), STATUS='sent'", "status"));
    EXPECT_TRUE(mentions_column("\"Status\" = 'sent'", "Status"));
    EXPECT_FALSE(mentions_column("note = 'status'", "status"));
    EXPECT_FALSE(mentions_column("statuses = 1", "status"));
    EXPECT_FALSE(mentions_column("status = 1", "Status"));
    EXPECT_FALSE(mentions_column("'unclosed", "status"));
    EXPECT_FALSE(mentions_column("\"", "status"));
    EXPECT_FALSE(mentions_column("", "status"));
}

TEST(Control, MarksUpdatesThatCouldPublishARow) {
    outbox_table table;
    EXPECT_FALSE(needs_mark(table, {"status"})) << "nothing is written back";
    table.on_published = "status = 'sent'";
    EXPECT_FALSE(needs_mark(table, {}));
    EXPECT_FALSE(needs_mark(table, {"created_at"})) << "no row is moved";
    EXPECT_TRUE(needs_mark(table, {"created_at", "status"}));
    table.republish = republish_rule{"status", "pending"};
    EXPECT_TRUE(needs_mark(table, {}));
    table.on_published.clear();
    EXPECT_FALSE(needs_mark(table, {}));
    table.on_dead_letter = "status = 'dead'";
    EXPECT_TRUE(needs_mark(table, {}));
}

}  // namespace
}  // namespace walrelay
