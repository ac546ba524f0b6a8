// What systemd is told: a datagram socket of the test's own takes the place of its manager. The
// servers of the configuration are not there, so that the relay waits for them.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>

namespace walrelay::test {
namespace {

/// A name that begins with @ is one of the abstract namespace.
class manager_socket {
public:
    explicit manager_socket(const std::string& name)
        : descriptor_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::ranges::copy(name, address.sun_path);
        if (name.front() == '@') {
            address.sun_path[0] = '\0';
        }
        const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        if (bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), bytes) != 0) {
            throw std::system_error(errno, std::generic_category(), "bind");
        }
    }
    manager_socket(const manager_socket&) = delete;
    manager_socket& operator=(const manager_socket&) = delete;
    ~manager_socket() { close(descriptor_); }

    /// All that came so far.
    const std::vector<std::string>& notes() {
        std::array<char, 4096> bytes{};
        for (;;) {
            const auto count = recv(descriptor_, bytes.data(), bytes.size(), 0);
            if (count < 0) {
                return notes_;
            }
            notes_.emplace_back(bytes.data(), static_cast<std::size_t>(count));
        }
    }
    [[nodiscard]] std::ptrdiff_t count(const std::string& note) {
        return std::ranges::count(notes(), note);
    }
    bool comes(const std::string& beginning) {
        return eventually(patience, [&] {
            return std::ranges::any_of(
                notes(), [&](const auto& each) { return each.starts_with(beginning); });
        });
    }

private:
    int descriptor_;
    std::vector<std::string> notes_;
};

/// Source: proc(5), /proc/pid/stat.
bool is_stopped(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    return std::getline(file, text) && text.find(") T ") != std::string::npos;
}

class ServiceNotes : public testing::Test {
protected:
    relay_start start(std::map<std::string, std::string> environment) {
        const auto file = folder_.path() / "walrelay.toml";
        std::ofstream(file) << "[postgres]\nconninfo = 'host=127.0.0.1 port=1 dbname=app'\n"
                               "[nats]\nurls = ['nats://127.0.0.1:1']\n"
                               "[[outbox]]\ntable = 'public.outbox_events'\n";
        return {.program = WALRELAY_BINARY,
                .arguments = {"run", "--config", file.string()},
                .folder = folder_.path(),
                .environment = std::move(environment)};
    }
    [[nodiscard]] std::string socket_name() const { return (folder_.path() / "notify").string(); }

    temporary_folder folder_{"notify"};
};

TEST_F(ServiceNotes, TellThatItIsReadyBeforeAnyServerIsThere) {
    manager_socket manager(socket_name());
    relay_process relay(start({{"NOTIFY_SOCKET", socket_name()}}));
    EXPECT_TRUE(manager.comes("READY=1"));
    EXPECT_TRUE(manager.comes("STATUS=waiting broker: the broker at nats://127.0.0.1:1"));
    EXPECT_EQ(manager.count("WATCHDOG=1"), 0);
    EXPECT_EQ(relay.stop(patience), 0);
    EXPECT_EQ(manager.count("STOPPING=1"), 1);
    EXPECT_EQ(manager.count("READY=1"), 1);
}

TEST_F(ServiceNotes, ReachAnAbstractSocket) {
    const std::string name = "@walrelay-test-" + std::to_string(getpid());
    manager_socket manager(name);
    const relay_process relay(start({{"NOTIFY_SOCKET", name}}));
    EXPECT_TRUE(manager.comes("READY=1"));
}

TEST_F(ServiceNotes, FeedTheWatchdogForAsLongAsTheLoopRuns) {
    manager_socket manager(socket_name());
    relay_process relay(start({{"NOTIFY_SOCKET", socket_name()}, {"WATCHDOG_USEC", "200000"}}));
    EXPECT_TRUE(eventually(patience, [&] { return manager.count("WATCHDOG=1") >= 5; }));
    relay.process().signal(SIGSTOP);
    ASSERT_TRUE(eventually(patience, [&] { return is_stopped(relay.process().pid()); }));
    const auto fed = manager.count("WATCHDOG=1");
    EXPECT_TRUE(
        throughout(std::chrono::seconds(1), [&] { return manager.count("WATCHDOG=1") == fed; }));
    relay.process().signal(SIGCONT);
    EXPECT_TRUE(eventually(patience, [&] { return manager.count("WATCHDOG=1") > fed; }));
}

TEST_F(ServiceNotes, LeaveAWatchdogOfAnotherProcessAlone) {
    manager_socket manager(socket_name());
    const relay_process relay(start(
        {{"NOTIFY_SOCKET", socket_name()}, {"WATCHDOG_USEC", "20000"}, {"WATCHDOG_PID", "1"}}));
    EXPECT_TRUE(manager.comes("STATUS="));
    EXPECT_TRUE(throughout(std::chrono::milliseconds(500),
                           [&] { return manager.count("WATCHDOG=1") == 0; }));
}

TEST_F(ServiceNotes, ComeNotFromARelayWhosePortIsTaken) {
    manager_socket manager(socket_name());
    const auto refused = run_to_end(
        start({{"NOTIFY_SOCKET", socket_name()}, {"WALRELAY_HTTP_LISTEN", "203.0.113.1:8460"}}),
        patience);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(manager.count("READY=1"), 0);
}

TEST_F(ServiceNotes, AreNoTroubleWhereNobodyTakesThem) {
    relay_process relay(start({{"NOTIFY_SOCKET", socket_name()}, {"WATCHDOG_USEC", "20000"}}));
    EXPECT_TRUE(relay.wait_for_log("cannot be reached", patience));
    EXPECT_EQ(relay.stop(patience), 0);
}

}  // namespace
}  // namespace walrelay::test
