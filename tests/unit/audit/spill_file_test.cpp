#include "audit/spill_file.hpp"

#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace walrelay::audit {
namespace {

TEST(SpillFile, GivesBackWhatWasAppended) {
    const test::temporary_folder folder("spill");
    auto file = spill_file::make(folder.path(), 0);
    ASSERT_TRUE(file);
    const auto first = file->append("first");
    const auto second = file->append(std::string(100'000, 'x'));
    ASSERT_TRUE(first && second);
    std::string bytes;
    ASSERT_TRUE(file->read(*second, bytes));
    EXPECT_EQ(bytes, std::string(100'000, 'x'));
    ASSERT_TRUE(file->read(*first, bytes));
    EXPECT_EQ(bytes, "first");
}

TEST(SpillFile, HasNoNameWhileItIsUsed) {
    const test::temporary_folder folder("spill");
    auto file = spill_file::make(folder.path(), 0);
    ASSERT_TRUE(file && file->append("x"));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SpillFile, SaysHowMuchRoomIsNeeded) {
    const test::temporary_folder folder("spill");
    const auto refused = spill_file::make(folder.path(), 1ULL << 60U);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::temporary_file);
    EXPECT_NE(refused.error().what.find("about 1099511627776 MiB"), std::string::npos)
        << refused.error().what;
    EXPECT_NE(refused.error().remedy.find("TMPDIR"), std::string::npos);
}

TEST(SpillFile, NamesAFolderThatIsNotThere) {
    const test::temporary_folder folder("spill");
    const auto refused = spill_file::make(folder.path() / "absent", 0);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::temporary_file);
    EXPECT_NE(refused.error().what.find("absent"), std::string::npos);
}

TEST(SpillFile, ReadingBehindTheEndFails) {
    const test::temporary_folder folder("spill");
    auto file = spill_file::make(folder.path(), 0);
    ASSERT_TRUE(file && file->append("abc"));
    std::string bytes;
    EXPECT_FALSE(file->read({0, 4}, bytes));
}

}  // namespace
}  // namespace walrelay::audit
