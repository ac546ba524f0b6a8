// Connections through pgbouncer: which of them keep what a session sets.
#include "postgres_fixture.hpp"
#include "support/child_process.hpp"
#include "support/eventually.hpp"
#include "support/free_port.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

namespace walrelay::test {
namespace {

using namespace std::chrono_literals;
using postgres::connection;
using postgres::connection_kind;
using testing::HasSubstr;

class Pooler : public postgres_fixture {
protected:
    /// pgbouncer in front of the server; it does not run as root.
    void pool(const std::string& mode, int size = 5) {
        const auto file = folder_.path() / "pgbouncer.ini";
        std::ofstream(file) << "[databases]\n* = host=127.0.0.1 port=" << server().port()
                            << " user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
                            << "listen_port = " << port_
                            << "\nauth_type = any\npool_mode = " << mode
                            << "\ndefault_pool_size = " << size
                            << "\nunix_socket_dir =\nquery_wait_timeout = 2\n";
        std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
        const auto someone = geteuid() == 0 ? std::optional(find_account("nobody")) : std::nullopt;
        process_ = std::make_unique<child_process>(command{.program = "pgbouncer",
                                                           .arguments = {file.string()},
                                                           .run_as = someone,
                                                           .folder = folder_.path(),
                                                           .name = "pgbouncer"});
        ASSERT_TRUE(eventually(30s, [&] {
            return process_->standard_error().find("process up") != std::string::npos;
        })) << process_->standard_error();
    }
    [[nodiscard]] result<connection> open(connection_kind kind) {
        return run(connection::open(context_.get_executor(),
                                    {.conninfo = "host=127.0.0.1 user=postgres dbname=" +
                                                 database_ + " port=" + std::to_string(port_),
                                     .kind = kind,
                                     .timeout = 10s}));
    }
    [[nodiscard]] std::string refusal(connection_kind kind) {
        const auto opened = open(kind);
        return opened ? "connected" : to_string(opened.error());
    }

    std::uint16_t port_ = free_port();

private:
    temporary_folder folder_{"pgbouncer"};
    std::unique_ptr<child_process> process_;
};

TEST_F(Pooler, ThatKeepsSessionsIsFineForQueries) {
    pool("session");
    auto opened = open(connection_kind::sql);
    ASSERT_TRUE(opened) << to_string(opened.error());
    const auto shown = run(opened->query("SHOW bytea_output"));
    ASSERT_TRUE(shown) << to_string(shown.error());
    EXPECT_EQ(shown->text(0, 0), "hex");
    const auto path = run(opened->query("SHOW search_path"));
    EXPECT_EQ(path->text(0, 0), "pg_catalog");
}

TEST_F(Pooler, ThatLendsConnectionsForTransactionsIsRefused) {
    pool("transaction");
    for (int attempt = 0; attempt < 3; ++attempt) {
        EXPECT_THAT(refusal(connection_kind::sql),
                    HasSubstr("lends its connections for single transactions"));
    }
    // And others find nothing of ours in what they are lent.
    postgres_session other("host=127.0.0.1 user=postgres dbname=" + database_ +
                           " port=" + std::to_string(server().port()));
    EXPECT_NE(other.value_of("SHOW search_path"), "pg_catalog");
}

TEST_F(Pooler, WithOneConnectionIsRefusedInEitherMode) {
    pool("transaction", 1);
    EXPECT_NE(refusal(connection_kind::sql), "connected");
}

TEST_F(Pooler, ThatTakesNoReplicationIsNamed) {
    pool("session");
    const auto said = refusal(connection_kind::replication);
    EXPECT_THAT(said, HasSubstr("a pooler answers in PostgreSQL's place"));
    EXPECT_THAT(said, HasSubstr("connect past the pooler"));
}

}  // namespace
}  // namespace walrelay::test
