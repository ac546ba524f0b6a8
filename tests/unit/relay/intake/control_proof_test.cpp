#include "relay/intake/control_proof.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay::relay {
namespace {

constexpr const char* secret = "3f0c";
/// Of the secret and transaction 4294967302, as sha256sum says: its low half is 6.
constexpr const char* transaction = "4294967302";
constexpr const char* proof = "dcd6afe2ab790e8c3e012bb21dff414bedb1cb86b9a8a1481943190a26f8fb47";

control_row row_of(std::string_view of, std::string_view proved_by) {
    control_row row;
    row.transaction = of;
    row.proof = proved_by;
    return row;
}

TEST(ControlProof, IsTheHashOfTheSecretAndTheTransaction) {
    EXPECT_EQ(control_proof(secret, transaction), proof);
}

TEST(ControlProof, OfItsTransactionIsTaken) {
    control_verifier verifier;
    EXPECT_TRUE(verifier.is_proved(row_of(transaction, proof), secret, 6));
    EXPECT_TRUE(verifier.is_proved(row_of(transaction, proof), secret, std::nullopt));
}

TEST(ControlProof, OfAnotherTransactionIsNone) {
    control_verifier verifier;
    EXPECT_FALSE(verifier.is_proved(row_of(transaction, proof), secret, 7));
    EXPECT_FALSE(verifier.is_proved(row_of("4294967303", proof), secret, 7));
    EXPECT_FALSE(verifier.is_proved(row_of("04294967302", proof), secret, 6));
    EXPECT_FALSE(verifier.is_proved(row_of("", proof), secret, 6));
    EXPECT_FALSE(verifier.is_proved(row_of("x", proof), secret, 6));
}

TEST(ControlProof, WithoutASecretNothingIsProved) {
    control_verifier verifier;
    EXPECT_FALSE(verifier.is_proved(row_of(transaction, control_proof("", transaction)), "", 6));
}

TEST(ControlProof, OfAnotherSecretOrNoneIsNone) {
    control_verifier verifier;
    EXPECT_TRUE(verifier.is_proved(row_of(transaction, proof), secret, 6));
    EXPECT_FALSE(verifier.is_proved(row_of(transaction, proof), "another", 6));
    EXPECT_FALSE(verifier.is_proved(row_of(transaction, ""), secret, 6));
    control_row bare;
    bare.transaction = transaction;
    EXPECT_FALSE(verifier.is_proved(bare, secret, 6));
    EXPECT_FALSE(verifier.is_proved({}, secret, 6));
}

}  // namespace
}  // namespace walrelay::relay
