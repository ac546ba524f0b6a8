// Certificates for a test: an authority, a server on 127.0.0.1 and a client, valid for a day.
#pragma once

#include "support/temporary_folder.hpp"

#include <string>

namespace walrelay::test {

enum class server_certificate_is { right, expired, for_another_name };

/// Written once constructed. Throws std::runtime_error.
class tls_files {
public:
    /// Two authorities need two names.
    explicit tls_files(const char* authority = "test authority",
                       server_certificate_is kind = server_certificate_is::right);

    [[nodiscard]] std::string ca() const { return file("ca.pem"); }
    [[nodiscard]] std::string server_certificate() const { return file("server.pem"); }
    [[nodiscard]] std::string server_key() const { return file("server.key"); }
    [[nodiscard]] std::string client_certificate() const { return file("client.pem"); }
    [[nodiscard]] std::string client_key() const { return file("client.key"); }
    /// The same, with a passphrase.
    [[nodiscard]] std::string encrypted_client_key() const { return file("encrypted.key"); }

private:
    [[nodiscard]] std::string file(const char* name) const { return folder_.path() / name; }

    temporary_folder folder_{"tls"};
};

}  // namespace walrelay::test
