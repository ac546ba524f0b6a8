#include "nats/secrets.hpp"

#include <fstream>
#include <utility>

namespace walrelay::nats {
namespace {

/// The file's first line.
result<std::string> read_secret(const std::string& key, const std::string& file) {
    std::ifstream stream(file);
    std::string line;
    if (!std::getline(stream, line) || line.empty()) {
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
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with("SU")) {
            return trimmed(line);
        }
    }
    return unusable_file(key, file, "it holds no seed of a user (a line that begins with SU)");
}

/// The line behind "BEGIN NATS USER JWT". Source: the form that `nsc generate creds` writes.
result<std::string> read_jwt(const std::string& key, const std::string& file) {
    std::ifstream stream(file);
    bool next = false;
    for (std::string line; std::getline(stream, line);) {
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
    secrets found{.user = from.user};
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
    return {errc::broker_unsuitable, "the file of " + key + " cannot be used: " + file,
            "check that it exists, that walrelay's user may read it, and what it holds",
            std::move(said)};
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
    secrets found;
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
