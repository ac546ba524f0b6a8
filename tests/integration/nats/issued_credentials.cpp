#include "issued_credentials.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace walrelay::test {
namespace {

using bytes = std::basic_string<unsigned char>;

constexpr std::size_t key_bytes = 32;
constexpr std::size_t signature_bytes = 64;

void require(bool done) {
    if (!done) {
        throw std::runtime_error("credentials cannot be made");
    }
}

std::string base64_url(const bytes& from) {
    constexpr std::size_t group_bytes = 3;
    constexpr std::size_t group_digits = 4;
    bytes text((from.size() / group_bytes + 1) * group_digits + 1, 0);
    const int written = EVP_EncodeBlock(text.data(), from.data(), static_cast<int>(from.size()));
    std::string encoded(text.begin(), text.begin() + written);
    std::replace(encoded.begin(), encoded.end(), '+', '-');
    std::replace(encoded.begin(), encoded.end(), '/', '_');
    return encoded.substr(0, encoded.find('='));
}

/// The text form of nkeys: base32 of what it is for, the bytes, and a CRC-16/XMODEM.
std::string nkey_text(const bytes& prefix, const bytes& key) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    bytes all = prefix + key;
    unsigned crc = 0;
    for (const unsigned each : all) {
        crc ^= each << 8U;
        for (int bit = 0; bit < 8; ++bit) {
            crc = ((crc & 0x8000U) != 0 ? (crc << 1U) ^ 0x1021U : crc << 1U) & 0xFFFFU;
        }
    }
    all += static_cast<unsigned char>(crc & 0xFFU);
    all += static_cast<unsigned char>(crc >> 8U);
    std::string text;
    unsigned held = 0;
    unsigned bits = 0;
    for (const unsigned each : all) {
        held = (held << 8U | each) & 0xFFFFU;
        for (bits += 8; bits >= 5; bits -= 5) {
            text += digits[(held >> (bits - 5)) & 31U];
        }
    }
    if (bits > 0) {
        text += digits[(held << (5 - bits)) & 31U];
    }
    return text;
}

/// Whom a key stands for: the first letter of its public form.
enum class role : unsigned char { operator_ = 14U << 3U, account = 0, user = 20U << 3U };

class key_pair {
public:
    explicit key_pair(role of)
        : role_(static_cast<unsigned char>(of)),
          key_(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), &EVP_PKEY_free) {
        require(key_ != nullptr);
    }

    [[nodiscard]] std::string name() const {
        bytes key(key_bytes, 0);
        std::size_t length = key.size();
        require(EVP_PKEY_get_raw_public_key(key_.get(), key.data(), &length) == 1);
        return nkey_text({role_}, key);
    }

    [[nodiscard]] std::string seed() const {
        constexpr unsigned seed_prefix = 18U << 3U;
        bytes key(key_bytes, 0);
        std::size_t length = key.size();
        require(EVP_PKEY_get_raw_private_key(key_.get(), key.data(), &length) == 1);
        const bytes prefix{static_cast<unsigned char>(seed_prefix | role_ >> 5U),
                           static_cast<unsigned char>((role_ & 31U) << 3U)};
        return nkey_text(prefix, key);
    }

    [[nodiscard]] std::string sign(const std::string& text) const {
        const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                              &EVP_MD_CTX_free);
        bytes signature(signature_bytes, 0);
        std::size_t length = signature.size();
        const bytes signed_bytes(text.begin(), text.end());
        require(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
                EVP_DigestSign(context.get(), signature.data(), &length, signed_bytes.data(),
                               signed_bytes.size()) == 1);
        return base64_url(signature);
    }

private:
    unsigned char role_;
    std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
};

std::string json_web_token(const key_pair& issuer, const key_pair& subject,
                           const std::string& claims, const std::string& more = "") {
    const std::string header = R"({"typ":"JWT","alg":"ed25519-nkey"})";
    const auto body = R"({"jti":"1","iat":1700000000,"iss":")" + issuer.name() + R"(","sub":")" +
                      subject.name() + R"(","name":"test","nats":)" + claims + more + "}";
    const auto text =
        base64_url({header.begin(), header.end()}) + "." + base64_url({body.begin(), body.end()});
    return text + "." + issuer.sign(text);
}

std::string claims_of_account(const std::string& jetstream) {
    return R"({"limits":{"subs":-1,"data":-1,"payload":-1,"imports":-1,"exports":-1,)"
           R"("wildcards":true,"conn":-1,"leaf":-1)" +
           (jetstream.empty() ? "" : "," + jetstream) + R"(},"type":"account","version":2})";
}

std::string credentials_file(const key_pair& account, const std::string& more) {
    const key_pair user(role::user);
    const auto of_user = json_web_token(account, user,
                                        R"({"pub":{},"sub":{},"subs":-1,"data":-1,"payload":-1,)"
                                        R"("type":"user","version":2})",
                                        more);
    return "-----BEGIN NATS USER JWT-----\n" + of_user +
           "\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n" + user.seed() +
           "\n------END USER NKEY SEED------\n";
}

}  // namespace

issued_credentials issue_credentials(
    std::optional<std::chrono::system_clock::time_point> user_expires,
    const std::string& jetstream) {
    const key_pair authority(role::operator_);
    const key_pair account(role::account);
    const auto of_authority =
        json_web_token(authority, authority, R"({"type":"operator","version":2})");
    const auto of_account = json_web_token(authority, account, claims_of_account(jetstream));
    std::string end;
    if (user_expires) {
        end = ",\"exp\":" + std::to_string(std::chrono::system_clock::to_time_t(*user_expires));
    }
    issued_credentials issued;
    const key_pair system(role::account);
    const auto of_system = json_web_token(authority, system, claims_of_account(""));
    issued.server_settings = "operator: \"" + of_authority +
                             "\"\nsystem_account: " + system.name() +
                             "\nresolver: MEMORY\nresolver_preload: { " + account.name() + ": \"" +
                             of_account + "\", " + system.name() + ": \"" + of_system + "\" }\n";
    issued.file = credentials_file(account, end);
    issued.next_file = credentials_file(account, "");
    return issued;
}

}  // namespace walrelay::test
