// What proves to the broker who we are, as read from the files of the configuration. None of it
// ever gets into a message.
#pragma once

#include "core/error.hpp"
#include "nats/session/connect_options.hpp"

#include <string>
#include <string_view>

namespace walrelay::nats {

/// Overwrites the text, so that no later reader of the memory finds it.
void wipe(std::string& secret);

/// At most one way is filled in.
struct secrets {
    std::string user = {};
    std::string password = {};
    std::string token = {};
    /// The public key ("U...") of a bare NKey.
    std::string nkey = {};
    std::string jwt = {};
    /// Of `nkey` or `jwt`: signs what the server asks to be signed.
    std::string seed = {};
};

/// Wipes them at its own end.
class secrets_guard {
public:
    explicit secrets_guard(secrets& guarded) : guarded_(&guarded) {}
    secrets_guard(const secrets_guard&) = delete;
    secrets_guard& operator=(const secrets_guard&) = delete;
    ~secrets_guard();

private:
    secrets* guarded_;
};

/// Errors: as of read_secret_file, naming the key and the file.
[[nodiscard]] result<secrets> read_secrets(const connect_options& from);

/// What the file of a secret holds. Errors: file_unusable where it cannot be read at once, is not
/// an ordinary file, is too large for a secret, or is for every user of the machine to read.
[[nodiscard]] result<std::string> read_secret_file(const std::string& key, const std::string& file);

/// Of a file that a key of the configuration names.
[[nodiscard]] error unusable_file(const std::string& key, const std::string& file,
                                  std::string said);

/// The public key of an NKey seed ("SU..."), as the server knows it ("U...").
/// Source: nats-io/nkeys, the text form: base32 of a prefix, the key and a CRC-16. Errors:
/// broker_unsuitable.
[[nodiscard]] result<std::string> nkey_public(std::string_view seed);

/// The signature of `text` with the seed's key (Ed25519) in base64 for URLs without padding, as
/// CONNECT takes it. Errors: broker_unsuitable.
[[nodiscard]] result<std::string> nkey_sign(std::string_view seed, std::string_view text);

}  // namespace walrelay::nats
