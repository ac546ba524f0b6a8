// What the service manager is told, read from the socket that it listens on.
#include "app/service_notes.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace walrelay::app {
namespace {

/// A datagram socket with a name that the kernel chooses, in the abstract namespace.
class service_manager {
public:
    service_manager() : descriptor_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        EXPECT_EQ(::bind(descriptor_, any, sizeof address.sun_family), 0);
        socklen_t bytes = sizeof address;
        EXPECT_EQ(::getsockname(descriptor_, any, &bytes), 0);
        const auto length = bytes - sizeof address.sun_family;
        std::string name(address.sun_path, length);
        name.front() = '@';
        ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    }
    service_manager(const service_manager&) = delete;
    service_manager& operator=(const service_manager&) = delete;
    ~service_manager() {
        ::unsetenv("NOTIFY_SOCKET");
        ::close(descriptor_);
    }

    /// A note is there as soon as it has been sent. Empty where none is.
    [[nodiscard]] std::string note() const {
        std::array<char, 16384> bytes{};
        const auto read = ::recv(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT);
        return read < 0 ? std::string() : std::string(bytes.data(), static_cast<std::size_t>(read));
    }

private:
    int descriptor_;
};

TEST(ServiceNotes, TellAStateOnce) {
    const service_manager manager;
    service_notes notes;
    notes.status("streaming");
    EXPECT_EQ(manager.note(), "STATUS=streaming");
    notes.status("streaming");
    EXPECT_EQ(manager.note(), "");
}

TEST(ServiceNotes, GiveNoLineOfTheirOwnToWhatAServerSaid) {
    const service_manager manager;
    service_notes notes;
    notes.status("halted: refused\nMAINPID=1\nWATCHDOG=trigger");
    EXPECT_EQ(manager.note(), "STATUS=halted: refused\\nMAINPID=1\\nWATCHDOG=trigger");
}

TEST(ServiceNotes, ShortenAStateThatIsTooLongForANote) {
    const service_manager manager;
    service_notes notes;
    notes.status(std::string(1'000'000, 'x'));
    const auto note = manager.note();
    EXPECT_TRUE(note.starts_with("STATUS=xxx"));
    EXPECT_LT(note.size(), 5000U);
}

}  // namespace
}  // namespace walrelay::app
