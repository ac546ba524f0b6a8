#include "relay/intake/control_proof.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <array>
#include <charconv>
#include <cstdint>

namespace walrelay::relay {
namespace {

/// pg_current_xact_id() as the row has it, and no other text: nothing is hashed twice alike.
std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole = read.ec == std::errc{} && read.ptr == text.data() + text.size();
    return is_whole && std::to_string(number) == text ? std::optional(number) : std::nullopt;
}

bool is_same(std::string_view one, std::string_view other) {
    return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace

std::string control_proof(std::string_view secret, std::string_view transaction) {
    std::string text{secret};
    text.append(1, ':').append(transaction);
    std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
    // Source: OpenSSL 3.0 documentation, SHA256(3).
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data());
    constexpr std::string_view digits = "0123456789abcdef";
    std::string made;
    for (const auto byte : hash) {
        made += digits[byte >> 4U];
        made += digits[byte & 15U];
    }
    return made;
}

bool control_verifier::is_proved(const control_row& row, const std::string& secret,
                                 std::optional<transaction_id> xid) {
    const auto number = number_of(row.transaction.value_or(""));
    if (secret.empty() || !number || !row.proof) {
        return false;
    }
    // The WAL has the low half.
    if (xid && static_cast<transaction_id>(*number) != *xid) {
        return false;
    }
    if (secret != secret_ || *row.transaction != transaction_) {
        secret_ = secret;
        transaction_ = *row.transaction;
        proof_ = control_proof(secret_, transaction_);
    }
    return is_same(*row.proof, proof_);
}

}  // namespace walrelay::relay
