#include "app/self_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::app {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

finding found(finding_severity severity, const std::string& what) {
    return {severity, "stream_full", what, "raise the limit"};
}

TEST(SelfCheck, TellsWhatIsNew) {
    const std::vector before{found(finding_severity::warning, "A holds 10 bytes")};
    EXPECT_THAT(new_findings(before, before), IsEmpty());
    EXPECT_THAT(new_findings({}, before), SizeIs(1));
    EXPECT_THAT(new_findings(before, {found(finding_severity::warning, "A holds 2000 bytes")}),
                IsEmpty())
        << "figures alone are nothing new";
    EXPECT_THAT(new_findings(before, {found(finding_severity::warning, "B holds 10 bytes")}),
                SizeIs(1));
}

TEST(SelfCheck, TellsNoNotes) {
    EXPECT_THAT(new_findings({}, {found(finding_severity::note, "it can fill")}), IsEmpty());
}

TEST(SelfCheck, TellsNotesThatAreNew) {
    const std::vector before{found(finding_severity::warning, "A"),
                             found(finding_severity::note, "B has 10 bytes")};
    EXPECT_THAT(new_notes(before, before), IsEmpty());
    EXPECT_THAT(new_notes(before, {found(finding_severity::note, "B has 20 bytes")}), IsEmpty());
    EXPECT_THAT(new_notes(before, {found(finding_severity::warning, "C")}), IsEmpty());
    EXPECT_THAT(new_notes(before, {found(finding_severity::note, "C")}), SizeIs(1));
}

}  // namespace
}  // namespace walrelay::app
