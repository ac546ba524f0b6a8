// Passwords from files and commands: what is taken, and what is refused at once.
#include "postgres/session/password_source.hpp"

#include "support/secret_file.hpp"
#include "support/temporary_folder.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <string>

namespace walrelay::postgres {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class PasswordSource : public testing::Test {
protected:
    [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "password"; }
    [[nodiscard]] std::string refusal() const {
        const auto read = read_password_file(file().string());
        return read ? "it is taken" : to_string(read.error());
    }

    /// What the command gives, or why not.
    static std::string given(const std::string& command, std::chrono::milliseconds time = 60s) {
        boost::asio::io_context loop;
        auto ended =
            boost::asio::co_spawn(loop,
                                  run_password_command(loop.get_executor(), command,
                                                       std::chrono::steady_clock::now() + time),
                                  boost::asio::use_future);
        loop.run();
        const auto result = ended.get();
        return result ? *result : to_string(result.error());
    }

private:
    test::temporary_folder folder_{"password"};
};

TEST_F(PasswordSource, IsTheFirstLineOfAFile) {
    test::write_secret(file(), "it is; 'this' \r\nand not this\n");
    EXPECT_EQ(*read_password_file(file().string()), "it is; 'this' ");
}

TEST_F(PasswordSource, IsNoFileThatAllCanRead) {
    test::write_secret(file(), "secret\n");
    std::filesystem::permissions(file(), std::filesystem::perms(0644));
    EXPECT_THAT(refusal(), HasSubstr("every user of this machine can read it"));
    std::filesystem::permissions(file(), std::filesystem::perms(0440));
    EXPECT_EQ(refusal(), "it is taken") << "as a Secret is mounted for a group";
}

TEST_F(PasswordSource, IsNoFileThatIsMissingOrEmpty) {
    EXPECT_THAT(refusal(), HasSubstr("No such file"));
    test::write_secret(file(), "\nsecret\n");
    EXPECT_THAT(refusal(), HasSubstr("its first line is empty"));
}

TEST_F(PasswordSource, IsNothingThatCouldBeWaitedForFor) {
    ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
    EXPECT_THAT(refusal(), HasSubstr("not an ordinary file"));
    EXPECT_FALSE(read_password_file("/dev/zero"));
    EXPECT_FALSE(read_password_file("/"));
}

TEST_F(PasswordSource, IsTheFirstLineThatACommandWrites) {
    EXPECT_EQ(given("echo 'to ken'; echo more; echo no secret >&2"), "to ken");
    EXPECT_EQ(given("cat; printf token"), "token")
        << "it has nothing to read, and needs no line end";
    EXPECT_THAT(given("cat /dev/zero"), HasSubstr("it wrote more than 64 KiB"));
}

TEST_F(PasswordSource, IsNothingOfACommandThatFails) {
    EXPECT_THAT(given("echo token; exit 7"), HasSubstr("it ended with exit status 7"));
    EXPECT_THAT(given("echo token; kill -9 $$"), HasSubstr("it was ended by a signal"));
    EXPECT_THAT(given("true"), HasSubstr("it wrote nothing"));
    EXPECT_THAT(given("/nowhere/token"), HasSubstr("it ended with exit status 127"));
}

TEST_F(PasswordSource, IsNotWaitedForForEver) {
    // What the command begins is ended with it.
    EXPECT_THAT(given("cat /dev/zero > /dev/null | cat", 300ms),
                HasSubstr("it did not end in time"));
}

}  // namespace
}  // namespace walrelay::postgres
