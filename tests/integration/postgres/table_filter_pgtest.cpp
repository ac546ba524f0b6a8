// wal2json's list of tables, with names that could break it, read by wal2json itself.
#include "core/sql_text.hpp"
#include "postgres_fixture.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class TableFilter : public postgres_fixture, public testing::WithParamInterface<table_name> {};

INSTANTIATE_TEST_SUITE_P(
    Names, TableFilter,
    testing::Values(table_name{"public", "plain"}, table_name{"My Schema", "My Table"},
                    table_name{"a.b", "c.d"}, table_name{"a,b", "c,d"}, table_name{"*", "*"},
                    table_name{"public", "*"}, table_name{"*", "events2"},
                    table_name{"quo\"te", "sing'le"}, table_name{"back\\slash", "t\\"},
                    table_name{"Grüße", "表 à"}, table_name{"tab\there", "line\nbreak"},
                    table_name{"$1", "{%}"}));

TEST_P(TableFilter, LetsTheTableThroughAndNoOther) {
    const auto quoted = quote_table(GetParam());
    if (GetParam().schema != "public") {
        writer_->execute("CREATE SCHEMA " + quote_identifier(GetParam().schema));
    }
    writer_->execute("CREATE TABLE " + quoted + " (body text); CREATE TABLE wrong (body text)");
    auto from = make_slot(output_plugin::wal2json);
    from.add_tables = {{"nowhere", "nothing"}, GetParam()};
    auto streaming = stream(from);
    writer_->execute("BEGIN; INSERT INTO wrong VALUES ('unwanted'); INSERT INTO " + quoted +
                     " VALUES ('wanted'); COMMIT");
    for (;;) {
        const auto frame = frame_with(streaming, "action");
        ASSERT_THAT(frame, Not(HasSubstr("unwanted")));
        if (frame.find("wanted") != std::string::npos) {
            break;
        }
    }
}

}  // namespace
}  // namespace walrelay::test
