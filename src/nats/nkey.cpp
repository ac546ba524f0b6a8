// An NKey's public key from its seed. The arithmetic of Ed25519 is OpenSSL's.

#include "nats/authentication.hpp"

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace walrelay::nats {
namespace {

constexpr std::string_view base32_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr unsigned base32_bits = 5;
constexpr unsigned byte_bits = 8;
constexpr std::size_t key_bytes = 32;

std::optional<std::vector<std::uint8_t>> decode_base32(std::string_view text) {
    std::vector<std::uint8_t> bytes;
    std::uint32_t buffer = 0;
    unsigned held = 0;
    for (const char each : text) {
        const auto digit = base32_alphabet.find(each);
        if (digit == std::string_view::npos) {
            return std::nullopt;
        }
        buffer = (buffer << base32_bits) | static_cast<std::uint32_t>(digit);
        held += base32_bits;
        if (held >= byte_bits) {
            held -= byte_bits;
            bytes.push_back(static_cast<std::uint8_t>(buffer >> held));
        }
    }
    return bytes;
}

std::string encode_base32(const std::vector<std::uint8_t>& bytes) {
    std::string text;
    std::uint32_t buffer = 0;
    unsigned held = 0;
    for (const auto each : bytes) {
        buffer = (buffer << byte_bits) | each;
        held += byte_bits;
        while (held >= base32_bits) {
            held -= base32_bits;
            text += base32_alphabet[(buffer >> held) & 31U];
        }
    }
    if (held > 0) {
        text += base32_alphabet[(buffer << (base32_bits - held)) & 31U];
    }
    return text;
}

/// CRC-16/XMODEM, as the nkeys text form has it.
std::uint16_t checksum(const std::uint8_t* bytes, std::size_t count) {
    constexpr std::uint32_t polynomial = 0x1021;
    constexpr std::uint32_t top_bit = 0x8000;
    std::uint32_t crc = 0;
    for (std::size_t index = 0; index < count; ++index) {
        crc ^= static_cast<std::uint32_t>(bytes[index]) << byte_bits;
        for (unsigned bit = 0; bit < byte_bits; ++bit) {
            crc = (crc & top_bit) != 0 ? (crc << 1U) ^ polynomial : crc << 1U;
        }
    }
    return static_cast<std::uint16_t>(crc);
}

std::optional<std::array<std::uint8_t, key_bytes>> ed25519_public(const std::uint8_t* secret) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, secret, key_bytes), &EVP_PKEY_free);
    std::array<std::uint8_t, key_bytes> bytes{};
    std::size_t length = bytes.size();
    if (!key || EVP_PKEY_get_raw_public_key(key.get(), bytes.data(), &length) != 1) {
        return std::nullopt;
    }
    return bytes;
}

error not_a_seed() {
    return {errc::broker_unsuitable, "nats.nkey_seed does not hold an NKey seed of a user",
            "make one with `nk -gen user`; the file's line begins with SU"};
}

}  // namespace

result<std::string> nkey_public(std::string_view seed) {
    // Two bytes of prefix (seed, and kind of key), the secret, two bytes of checksum.
    constexpr std::size_t prefix_bytes = 2;
    constexpr std::size_t checksum_bytes = 2;
    constexpr std::uint8_t user_prefix = 20U << 3U;
    const auto raw = decode_base32(seed);
    if (!raw || raw->size() != prefix_bytes + key_bytes + checksum_bytes) {
        return not_a_seed();
    }
    const auto covered = raw->size() - checksum_bytes;
    const auto stated =
        static_cast<std::uint16_t>((*raw)[covered] | ((*raw)[covered + 1] << byte_bits));
    if (checksum(raw->data(), covered) != stated) {
        return not_a_seed();
    }
    const auto key = ed25519_public(raw->data() + prefix_bytes);
    if (!key) {
        return not_a_seed();
    }
    std::vector<std::uint8_t> named{user_prefix};
    named.insert(named.end(), key->begin(), key->end());
    const auto crc = checksum(named.data(), named.size());
    named.push_back(static_cast<std::uint8_t>(crc & 0xFFU));
    named.push_back(static_cast<std::uint8_t>(crc >> byte_bits));
    return encode_base32(named);
}

}  // namespace walrelay::nats
