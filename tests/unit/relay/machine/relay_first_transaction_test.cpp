// Which transaction the relay machine names after its start, before it reads a row of it.
#include "unit/relay/machine/relay_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using test::relay_script;
using testing::ElementsAre;
using testing::IsEmpty;

class RelayFirstTransaction : public testing::Test {
protected:
    /// The stream's last message is of the only row that transaction 200 had by then.
    void connect() {
        script.start();
        script.broker_connects(5, commit_position{lsn{0x200}, lsn{1}, 0});
        script.postgres_connects();
    }
    void begin(std::uint64_t commit) {
        script.frame(test::begin_frame(lsn{commit}));
        at_ = commit;
    }
    void row(const std::string& id) { script.frame(test::insert_frame(16384, {id, "kind", "{}"})); }
    void commit() { script.frame(test::commit_frame(lsn{at_}, lsn{at_ + 1})); }
    [[nodiscard]] std::vector<std::string> named() const {
        std::vector<std::string> found;
        for (const auto& line : script.log_lines()) {
            const auto at = line.find("commits at LSN ");
            if (at != std::string::npos) {
                const auto from = at + std::string("commits at LSN ").size();
                found.push_back(line.substr(from, line.find(',', from) - from));
            }
        }
        return found;
    }

    relay_script script;

private:
    std::uint64_t at_ = 0;
};

TEST_F(RelayFirstTransaction, IsNamedWhileItsRowIsStillComing) {
    connect();
    script.transaction(0x100, {"a"});
    begin(0x200);
    script.part_of_frame();
    EXPECT_THAT(named(), IsEmpty()) << "the stream has that row";
    row("b");
    commit();
    begin(0x300);
    commit();
    begin(0x400);
    EXPECT_THAT(named(), IsEmpty()) << "it may have no row";
    script.part_of_frame();
    script.part_of_frame();
    EXPECT_THAT(named(), ElementsAre("0/400"));
    row("c");
    commit();
    begin(0x500);
    script.part_of_frame();
    row("d");
    EXPECT_THAT(named(), ElementsAre("0/400")) << "the later ones are not the first";
}

TEST_F(RelayFirstTransaction, IsTheOneThatTheStreamHasInPart) {
    connect();
    begin(0x200);
    row("b");
    script.part_of_frame();
    EXPECT_THAT(named(), ElementsAre("0/200"));
}

TEST_F(RelayFirstTransaction, IsNamedByARowThatCameInOnePiece) {
    connect();
    script.transaction(0x200, {"b"});
    script.transaction(0x300, {});
    script.transaction(0x400, {"c", "d"});
    script.transaction(0x500, {"e"});
    EXPECT_THAT(named(), ElementsAre("0/400"));
}

TEST_F(RelayFirstTransaction, IsNotNamedBetweenTransactions) {
    connect();
    script.part_of_frame();
    script.transaction(0x200, {"b"});
    script.part_of_frame();
    EXPECT_THAT(named(), IsEmpty());
}

}  // namespace
}  // namespace walrelay::relay
