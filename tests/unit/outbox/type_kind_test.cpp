// Types by oid, and domains.
#include "outbox/type_kind.hpp"

#include <gtest/gtest.h>

namespace walrelay::outbox {
namespace {

constexpr type_oid jsonb = 3802;
constexpr type_oid own_type = 16400;

TEST(TypeKind, KnowsTheTypesThatTakeAFormOfTheirOwn) {
    const auto kind = [](type_oid type) { return kind_of(type, {}); };
    EXPECT_EQ(kind(114), type_kind::json);
    EXPECT_EQ(kind(jsonb), type_kind::json);
    EXPECT_EQ(kind(17), type_kind::bytea);
    EXPECT_EQ(kind(16), type_kind::boolean);
    for (const type_oid number : {20U, 21U, 23U, 700U, 701U, 1700U}) {
        EXPECT_EQ(kind(number), type_kind::number) << number;
    }
    EXPECT_EQ(kind(1114), type_kind::timestamp);
    EXPECT_EQ(kind(1184), type_kind::timestamp);
}

TEST(TypeKind, TakesEverythingElseAsText) {
    for (const type_oid other : {0U, 25U, 1043U, 1082U, 2950U, own_type}) {
        EXPECT_EQ(kind_of(other, {}), type_kind::text) << other;
    }
}

TEST(TypeKind, TakesADomainAsWhatItStandsFor) {
    EXPECT_EQ(kind_of(own_type, {{own_type, jsonb}}), type_kind::json);
    EXPECT_EQ(kind_of(own_type, {{own_type, own_type + 1}, {own_type + 1, jsonb}}),
              type_kind::json);
}

TEST(TypeKind, EndsWithDomainsThatGoInCircles) {
    EXPECT_EQ(kind_of(own_type, {{own_type, own_type + 1}, {own_type + 1, own_type}}),
              type_kind::text);
}

TEST(TypeKind, KnowsBuiltInTypesAndThoseThatAreThere) {
    const made_types made(std::vector<type_oid>{own_type + 1, own_type + 3});
    EXPECT_TRUE(is_known(jsonb, {}, made));
    EXPECT_TRUE(is_known(own_type, {{own_type, jsonb}}, made));
    EXPECT_TRUE(is_known(own_type + 3, {}, made));
    EXPECT_FALSE(is_known(own_type, {}, made));
    EXPECT_TRUE(is_known(own_type, {}, std::nullopt)) << "nobody has looked";
}

TEST(TypeKind, SaysTheMediaTypeOfAColumn) {
    EXPECT_EQ(media_type_of(type_kind::json), "application/json");
    EXPECT_EQ(media_type_of(type_kind::bytea), "application/octet-stream");
    EXPECT_EQ(media_type_of(type_kind::text), "text/plain; charset=utf-8");
    EXPECT_EQ(media_type_of(type_kind::number), "text/plain; charset=utf-8");
}

}  // namespace
}  // namespace walrelay::outbox
