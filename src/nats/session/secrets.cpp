#include "nats/session/secrets.hpp"

#include "files/ordinary_file.hpp"

#include <openssl/crypto.h>

#include <sstream>
#include <utility>

namespace walrelay::nats {
namespace {

/// Errors: as of read_secret_file.
result<std::istringstream> open_secret(const std::string& key, const std::string& file) {
    auto text = read_secret_file(key, file);
    if (!text) {
        return text.error();
    }
    // Some editors begin a file with a mark of its byte order.
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    std::istringstream lines(
        text->substr(text->starts_with(byte_order_mark) ? byte_order_mark.size() : 0));
    wipe(*text);
    return lines;
}

/// The file's first line.
result<std::string> read_secret(const std::string& key, const std::string& file) {
    auto stream = open_secret(key, file);
    if (!stream) {
        return stream.error();
    }
    std::string line;
    if (!std::getline(*stream, line) || line.empty()) {
        return unusable_file(key, file, "");
    }
    if (line.back() == '\r') {
        line.pop_back();
    }
    return line;
}

std::string trimmed(const std::string& line) {
    return line.substr(0, line.find_last_not_of(" \r\t") + 1);
}

/// The seed's line of a seed file, which may be decorated like a credentials file.
result<std::string> read_seed(const std::string& key, const std::string& file) {
    auto stream = open_secret(key, file);
    if (!stream) {
        return stream.error();
    }
    for (std::string line; std::getline(*stream, line);) {
        if (line.starts_with("SU")) {
            return trimmed(line);
        }
    }
    return unusable_file(key, file, "it holds no seed of a user (a line that begins with SU)");
}

/// The line after "BEGIN NATS USER JWT". Source: the form that `nsc generate creds` writes.
result<std::string> read_jwt(const std::string& key, const std::string& file) {
    auto stream = open_secret(key, file);
    if (!stream) {
        return stream.error();
    }
    bool next = false;
    for (std::string line; std::getline(*stream, line);) {
        if (next && !trimmed(line).empty()) {
            return trimmed(line);
        }
        next = next ||
               (line.starts_with("---") && line.find("BEGIN NATS USER JWT") != std::string::npos);
    }
    return unusable_file(key, file, "it holds no user JWT");
}

result<secrets> read_credentials(const std::string& file) {
    const std::string key = "nats.credentials";
    auto jwt = read_jwt(key, file);
    if (!jwt) {
        return jwt.error();
    }
    auto seed = read_seed(key, file);
    if (!seed) {
        return seed.error();
    }
    return secrets{.jwt = std::move(*jwt), .seed = std::move(*seed)};
}

result<secrets> read_nkey(const std::string& file) {
    auto seed = read_seed("nats.nkey_seed", file);
    if (!seed) {
        return seed.error();
    }
    auto key = nkey_public(*seed);
    if (!key) {
        return key.error();
    }
    return secrets{.nkey = std::move(*key), .seed = std::move(*seed)};
}

result<secrets> read_user(const connect_options& from) {
    secrets found{.user = from.user, .password = from.password};
    if (!from.password_file.empty()) {
        auto password = read_secret("nats.password_file", from.password_file);
        if (!password) {
            return password.error();
        }
        found.password = std::move(*password);
    }
    return found;
}

}  // namespace

error unusable_file(const std::string& key, const std::string& file, std::string said) {
    return {errc::file_unusable, "the file of " + key + " cannot be used: " + file,
            "check that it exists, that walrelay's user may read it, and what it holds",
            std::move(said)};
}

result<std::string> read_secret_file(const std::string& key, const std::string& file) {
    auto text = files::read_secret(file);
    if (text) {
        return std::move(*text);
    }
    if (text.error().of != files::unreadable::reason::is_public) {
        return unusable_file(key, file, text.error().why);
    }
    return error{errc::file_unusable,
                 "every user of this machine can read the file of " + key + ": " + file +
                     "; what it holds is not used",
                 "chmod o= " + file + " (walrelay's user must still be able to read it)"};
}

void wipe(std::string& secret) {
    OPENSSL_cleanse(secret.data(), secret.size());
    secret.clear();
}

secrets_guard::~secrets_guard() {
    for (auto* each : {&guarded_->password, &guarded_->token, &guarded_->jwt, &guarded_->seed}) {
        wipe(*each);
    }
}

result<secrets> read_secrets(const connect_options& from) {
    if (!from.credentials.empty()) {
        return read_credentials(from.credentials);
    }
    if (!from.nkey_seed.empty()) {
        return read_nkey(from.nkey_seed);
    }
    if (!from.user.empty()) {
        return read_user(from);
    }
    secrets found{.token = from.token};
    if (!from.token_file.empty()) {
        auto token = read_secret("nats.token_file", from.token_file);
        if (!token) {
            return token.error();
        }
        found.token = std::move(*token);
    }
    return found;
}

}  // namespace walrelay::nats
