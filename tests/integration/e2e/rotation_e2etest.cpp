// What proves to the broker who walrelay is, changed while it runs.
#include "integration/e2e/relay_bench.hpp"
#include "support/secret_file.hpp"

#include <fstream>
#include <sstream>

namespace walrelay::test {
namespace {

class Rotation : public testing::Test {
protected:
    Rotation() {
        std::ifstream conf(nats.folder() / "nats.conf");
        std::stringstream all;
        all << conf.rdbuf();
        settings_ = all.str();
        bench.create_table();
        bench.set_delivery("backoff_max = '200ms'\n");
    }
    /// The server lets in whom `user` describes, and others without a log-in.
    void let_in(const std::string& user) {
        nats.stop();
        std::ofstream(nats.folder() / "nats.conf", std::ios::trunc)
            << settings_ << "\nno_auth_user: operator\nauthorization { users: [ { user: operator, "
            << "password: x }, { " << user << " } ] }\n";
        nats.start();
    }
    void relay_one_more() {
        ++written_;
        bench.execute(insert_events(written_, written_));
        EXPECT_TRUE(bench.wait_for_messages(written_)) << bench.relay().log();
    }
    /// The server is told first, so that the relay is refused for a while.
    void rotate(const std::string& user, const std::string& content) {
        let_in(user);
        EXPECT_TRUE(bench.relay().wait_for_log("refuses the log-in", patience))
            << bench.relay().log();
        write_secret(secret(), content);
        relay_one_more();
    }
    [[nodiscard]] std::filesystem::path secret() const { return bench.folder() / "secret"; }

    nats_server nats;
    relay_bench bench{shared_postgres(), nats, "pgoutput"};

private:
    std::string settings_;
    std::uint64_t written_ = 0;
};

TEST_F(Rotation, OfAPasswordIsWaitedOut) {
    write_secret(secret(), "before\n");
    bench.set_nats("user = 'relay'\npassword_file = '" + secret().string() + "'\n");
    let_in("user: relay, password: before");
    bench.start();
    relay_one_more();
    rotate("user: relay, password: after", "after\n");
    bench.stop();
}

TEST_F(Rotation, OfAnNkeyIsWaitedOut) {
    write_secret(secret(), "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY\n");
    bench.set_nats("nkey_seed = '" + secret().string() + "'\n");
    let_in("nkey: UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4");
    bench.start();
    relay_one_more();
    rotate("nkey: UCSTAH52NMH4BG6M7GVTXK6K32XFXBINF7ZITSH3K6HXQ7NQLYV3WKUP",
           "SUAG4LSWZOTLFTBPRMYBCUKLKLV6CQL4S2KDD7INEYOLGUGPT7LYSFQ7W4\n");
    bench.stop();
}

}  // namespace
}  // namespace walrelay::test
