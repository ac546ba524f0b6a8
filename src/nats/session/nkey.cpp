// An NKey's public key and signatures from its seed. The arithmetic of Ed25519 is OpenSSL's.

#include "nats/session/secrets.hpp"

#include <openssl/evp.h>

#include <algorithm>
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

using key_handle = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

key_handle ed25519_key(const std::uint8_t* secret) {
    return {EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, secret, key_bytes),
            &EVP_PKEY_free};
}

std::optional<std::array<std::uint8_t, key_bytes>> ed25519_public(const std::uint8_t* secret) {
    const auto key = ed25519_key(secret);
    std::array<std::uint8_t, key_bytes> bytes{};
    std::size_t length = bytes.size();
    if (!key || EVP_PKEY_get_raw_public_key(key.get(), bytes.data(), &length) != 1) {
        return std::nullopt;
    }
    return bytes;
}

using signature = std::array<std::uint8_t, 64>;

std::optional<signature> ed25519_sign(const std::uint8_t* secret, std::string_view text) {
    const auto key = ed25519_key(secret);
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                          &EVP_MD_CTX_free);
    signature made{};
    std::size_t length = made.size();
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
    if (!key || !context ||
        EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
        EVP_DigestSign(context.get(), made.data(), &length, bytes, text.size()) != 1) {
        return std::nullopt;
    }
    return made;
}

std::string encode_base64_url(const signature& bytes) {
    constexpr std::size_t digits = 88;  // of 64 bytes, padding included
    std::array<unsigned char, digits + 1> text{};
    EVP_EncodeBlock(text.data(), bytes.data(), static_cast<int>(bytes.size()));
    std::string encoded(text.begin(), text.begin() + digits);
    std::replace(encoded.begin(), encoded.end(), '+', '-');
    std::replace(encoded.begin(), encoded.end(), '/', '_');
    return encoded.substr(0, encoded.find('='));
}

error not_a_seed() {
    return {errc::file_unusable,
            "the file of nats.nkey_seed or nats.credentials does not hold an NKey seed of a user",
            "make one with `nk -gen user`; the file's line begins with SU"};
}

// Two bytes of prefix (seed, and kind of key), the secret, two bytes of checksum.
constexpr std::size_t prefix_bytes = 2;
constexpr std::size_t checksum_bytes = 2;

/// The bytes of a seed whose checksum is right.
std::optional<std::vector<std::uint8_t>> decode_seed(std::string_view seed) {
    auto raw = decode_base32(seed);
    if (!raw || raw->size() != prefix_bytes + key_bytes + checksum_bytes) {
        return std::nullopt;
    }
    const auto covered = raw->size() - checksum_bytes;
    const auto stated =
        static_cast<std::uint16_t>((*raw)[covered] | ((*raw)[covered + 1] << byte_bits));
    if (checksum(raw->data(), covered) != stated) {
        return std::nullopt;
    }
    return raw;
}

}  // namespace

result<std::string> nkey_public(std::string_view seed) {
    constexpr std::uint8_t user_prefix = 20U << 3U;
    const auto raw = decode_seed(seed);
    if (!raw) {
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

result<std::string> nkey_sign(std::string_view seed, std::string_view text) {
    const auto raw = decode_seed(seed);
    if (!raw) {
        return not_a_seed();
    }
    const auto made = ed25519_sign(raw->data() + prefix_bytes, text);
    if (!made) {
        return not_a_seed();
    }
    return encode_base64_url(*made);
}

}  // namespace walrelay::nats
