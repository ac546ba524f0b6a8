// See src/outbox/id_inverse.hpp.
#include "outbox/id_inverse.hpp"

#include <gtest/gtest.h>

namespace walrelay::outbox {
namespace {

constexpr type_oid int2_type = 21;
constexpr type_oid int4_type = 23;
constexpr type_oid int8_type = 20;
constexpr type_oid text_type = 25;
constexpr type_oid uuid_type = 2950;
constexpr type_oid bytea_type = 17;
constexpr type_oid domain_type = 70'000;

constexpr const char* a_uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";

const std::vector<column> columns{
    {"id", int8_type},         {"small", int2_type},  {"middle", int4_type}, {"name", text_type},
    {"other", text_type},      {"key", uuid_type},    {"raw", bytea_type},   {"mine", domain_type},
    {"event_type", text_type}, {"payload", text_type}};
const domain_types domains{{domain_type, int4_type}};

result<id_inverse> try_to_make(const std::string& message_id) {
    outbox_table table{.table = {"public", "outbox"}};
    table.subject = "events.{event_type}";
    table.message_id = message_id;
    return id_inverse::make(table, columns, domains);
}

id_inverse make(const std::string& message_id) {
    return try_to_make(message_id).value();
}

std::optional<std::string> value(const std::string& message_id, std::string_view of) {
    return make(message_id).value_of(of, 0);
}

TEST(RowOfMessage, PublishedAgainIsTheSameRow) {
    EXPECT_EQ(row_of_message("17").id, "17");
    EXPECT_FALSE(row_of_message("17").again);
    EXPECT_EQ(row_of_message("17;retry-7-1").id, "17");
    EXPECT_TRUE(row_of_message("17;retry-7-1").again);
    EXPECT_EQ(row_of_message("a;b;republish-0000000001A2B3C4-12").id, "a;b");
    EXPECT_EQ(row_of_message("a;republish-0000000001A2B3C4-12-3").id, "a");
}

TEST(RowOfMessage, WhatOnlyLooksLikeAnOccasionIsPartOfTheId) {
    for (const std::string_view id :
         {"17;retry", "17;retry-7", "17;retry-x-1", "17;retry-7-1-1", "17;republish-1A-1",
          "17;republish-0000000001a2b3c4-1", "17;republish-0000000001A2B3C4-",
          "17;republish-0000000001A2B3C4", "17;republish-0000000001A2B3C4-1-",
          "17;republish-0000000001A2B3C4-1-1-1", "17;"}) {
        EXPECT_EQ(row_of_message(id).id, id);
        EXPECT_FALSE(row_of_message(id).again);
    }
}

TEST(IdInverse, TextAroundTheColumnIsTakenAway) {
    EXPECT_EQ(value("{id}", "17"), "17");
    EXPECT_EQ(value("wallet-{id}", "wallet-17"), "17");
    EXPECT_EQ(value("{name}.v1", "x.v1.v1"), "x.v1");
    EXPECT_EQ(value("wallet-{id}", "17"), std::nullopt);
    EXPECT_EQ(value("wallet-{id}", "wallet-"), std::nullopt);
    EXPECT_EQ(value("aba{name}aba", "ababa"), std::nullopt);
}

TEST(IdInverse, OnlyWhatTheTypePrintsIsAValue) {
    for (const std::string_view wrong :
         {"017", "+17", "-0", "1.5", "x", "9223372036854775808", " 1"}) {
        EXPECT_EQ(value("{id}", wrong), std::nullopt) << wrong;
    }
    EXPECT_EQ(value("{id}", "-9223372036854775808"), "-9223372036854775808");
    EXPECT_EQ(value("{small}", "32768"), std::nullopt);
    EXPECT_EQ(value("{middle}", "2147483648"), std::nullopt);
    EXPECT_EQ(value("{mine}", "x"), std::nullopt);
    EXPECT_EQ(value("{key}", a_uuid), a_uuid);
    EXPECT_EQ(value("{key}", "0F8FAD5B-D9CB-469F-A165-70867728950E"), std::nullopt);
    EXPECT_EQ(value("{raw}", "00ff"), "\\x00ff");
    EXPECT_EQ(value("{raw}", "00f"), std::nullopt);
}

TEST(IdInverse, TextThatNoColumnCanHaveIsOfAnotherType) {
    EXPECT_TRUE(make("o-{middle}").is_of_another_type("o-3000000000"));
    EXPECT_TRUE(make("o-{middle}").is_of_another_type("o-seven"));
    EXPECT_FALSE(make("o-{middle}").is_of_another_type("o-7"));
    EXPECT_FALSE(make("o-{middle}").is_of_another_type("p-seven")) << "of another template";
    EXPECT_FALSE(make("{name}").is_of_another_type("seven"));
}

TEST(IdInverse, IdThatSeveralTextsHaveIsNobodys) {
    EXPECT_EQ(value("{name}", "50% off"), "50% off");
    EXPECT_EQ(value("{name}", "a%20"), std::nullopt);
    EXPECT_EQ(value("{name}", "a%0Ab"), std::nullopt);
}

TEST(IdInverse, EncodedIdIsOfOneTextUnlessAnotherRowHasItAsItIs) {
    const auto text = [](const std::string& template_text, std::string_view id) {
        const auto found = make(template_text).encoded_value_of(id, 0);
        return found ? std::optional(std::pair(found->text, found->unless)) : std::nullopt;
    };
    EXPECT_EQ(text("{name}", "ab  %20"), std::pair(std::string("ab   "), std::string("ab  %20")))
        << "char(5): only the last blank has to be encoded";
    EXPECT_EQ(text("{name}", "%20a%0Ab%2550"),
              std::pair(std::string(" a\nb%50"), std::string("%20a%0Ab%2550")));
    EXPECT_EQ(text("order-{name}", "order-a%20"),
              std::pair(std::string("a "), std::string("a%20")));
    // No text is encoded like that.
    EXPECT_EQ(text("{name}", "a%41"), std::nullopt);
    EXPECT_EQ(text("{name}", "a%20b%0A"), std::nullopt) << "a blank in the middle stays";
    EXPECT_EQ(text("{name}", "50% off"), std::nullopt);
    EXPECT_EQ(text("{id}", "17%20"), std::nullopt) << "no number has blanks";
    EXPECT_EQ(text("{name|other}", "a%20"), std::nullopt) << "of either column";
}

TEST(IdInverse, IdThatLooksLikeThatOfARowPublishedAgainIsOfItsOwnRowAlone) {
    const auto inverse = make("{name}");
    EXPECT_EQ(inverse.value_of("victim;retry-1-1", 0), std::nullopt);
    EXPECT_EQ(inverse.value_of("victim%3Bretry-1-1", 0), std::nullopt);
    const auto own = inverse.encoded_value_of("victim%3Bretry-1-1", 0);
    ASSERT_TRUE(own);
    EXPECT_EQ(own->text, "victim;retry-1-1");
    EXPECT_EQ(own->unless, "victim%3Bretry-1-1");
}

TEST(IdInverse, ValueThatCouldBeInTwoColumnsIsBelievedOnlyAsUuid) {
    const auto numbers = make("{name|id}");
    EXPECT_EQ(numbers.value_of("17", 0), std::nullopt);
    EXPECT_EQ(numbers.value_of("17", 1), std::nullopt);
    EXPECT_EQ(numbers.value_of("seventeen", 0), "seventeen");
    EXPECT_EQ(numbers.value_of("seventeen", 1), std::nullopt);
    const auto uuids = make("{name|key}");
    EXPECT_EQ(uuids.value_of(a_uuid, 0), a_uuid);
    EXPECT_EQ(uuids.value_of(a_uuid, 1), a_uuid);
    ASSERT_EQ(uuids.alternatives().size(), 2U);
    EXPECT_EQ(uuids.alternatives()[1].column, "key");
}

TEST(IdInverse, TemplateOfSeveralColumnsIsRefused) {
    for (const auto* const several : {"{name}-{id}", "{id}{id}"}) {
        const auto refused = try_to_make(several);
        ASSERT_TRUE(refused.has_error()) << several;
        EXPECT_EQ(refused.error().code, errc::configuration_invalid);
        EXPECT_NE(refused.error().what.find("public.outbox"), std::string::npos);
    }
}

TEST(IdInverse, TablesShareIdsUnlessPrefixSuffixOrTypeForbidIt) {
    EXPECT_TRUE(make("{id}").may_share_ids(make("{middle}")));
    EXPECT_TRUE(make("{id}").may_share_ids(make("{name}")));
    EXPECT_TRUE(make("a-{id}").may_share_ids(make("{name}")));
    EXPECT_TRUE(make("{name}").may_share_ids(make("a-{id}")));
    EXPECT_TRUE(make("1{id}").may_share_ids(make("{id}")));
    EXPECT_FALSE(make("a-{id}").may_share_ids(make("b-{id}")));
    EXPECT_FALSE(make("a-{id}").may_share_ids(make("{id}")));
    EXPECT_FALSE(make("wallet-{id}").may_share_ids(make("{key}")));
    EXPECT_FALSE(make("{name}-a").may_share_ids(make("{name}-b")));
    EXPECT_TRUE(make("{name}-a").may_share_ids(make("{other}a")));
}

TEST(IdInverse, AmongTablesThatShareIdsOnlyUuidsAreBelieved) {
    auto careful = make("{name}");
    careful.believe_only_uuids();
    EXPECT_EQ(careful.value_of("17", 0), std::nullopt);
    EXPECT_EQ(careful.value_of(a_uuid, 0), a_uuid);
}

}  // namespace
}  // namespace walrelay::outbox
