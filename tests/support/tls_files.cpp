#include "support/tls_files.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

namespace walrelay::test {
namespace {

template <auto destroy>
struct with {
    template <class Handle>
    void operator()(Handle* handle) const {
        destroy(handle);
    }
};
using key_handle = std::unique_ptr<EVP_PKEY, with<EVP_PKEY_free>>;
using certificate_handle = std::unique_ptr<X509, with<X509_free>>;
using extension_handle = std::unique_ptr<X509_EXTENSION, with<X509_EXTENSION_free>>;
using file_handle = std::unique_ptr<std::FILE, with<std::fclose>>;

void require(bool done) {
    if (!done) {
        throw std::runtime_error("a certificate cannot be made");
    }
}

struct identity {
    key_handle key;
    certificate_handle certificate;
};

void extend(X509* certificate, int which, const char* value) {
    const extension_handle extension(X509V3_EXT_conf_nid(nullptr, nullptr, which, value));
    require(extension && X509_add_ext(certificate, extension.get(), -1) == 1);
}

constexpr long day_seconds = 24L * 60 * 60;

/// Signed by `authority`, by itself without one. Valid for so long from now, if not negative.
identity make(const char* name, long serial, const identity* authority,
              const char* address = "IP:127.0.0.1", long valid_seconds = day_seconds) {
    identity made{key_handle(EVP_EC_gen("P-256")), certificate_handle(X509_new())};
    auto* const certificate = made.certificate.get();
    require(made.key && certificate != nullptr);
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -day_seconds);
    X509_gmtime_adj(X509_getm_notAfter(certificate), valid_seconds);
    X509_set_pubkey(certificate, made.key.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    const auto& signer = authority == nullptr ? made : *authority;
    X509_set_issuer_name(certificate, X509_get_subject_name(signer.certificate.get()));
    if (authority == nullptr) {
        extend(certificate, NID_basic_constraints, "critical,CA:TRUE");
    } else {
        extend(certificate, NID_subject_alt_name, address);
    }
    require(X509_sign(certificate, signer.key.get(), EVP_sha256()) > 0);
    return made;
}

void write(const identity& from, const std::string& certificate, const std::string& key) {
    const file_handle certificate_file(std::fopen(certificate.c_str(), "w"));
    const file_handle key_file(std::fopen(key.c_str(), "w"));
    require(certificate_file && key_file &&
            PEM_write_X509(certificate_file.get(), from.certificate.get()) == 1 &&
            PEM_write_PrivateKey(key_file.get(), from.key.get(), nullptr, nullptr, 0, nullptr,
                                 nullptr) == 1);
    std::filesystem::permissions(key, std::filesystem::perms::owner_read);
}

void write_encrypted(EVP_PKEY* key, const std::string& file) {
    unsigned char passphrase[] = "passphrase";
    const file_handle to(std::fopen(file.c_str(), "w"));
    require(to && PEM_write_PKCS8PrivateKey(to.get(), key, EVP_aes_256_cbc(),
                                            reinterpret_cast<const char*>(passphrase),
                                            sizeof passphrase - 1, nullptr, nullptr) == 1);
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
}

}  // namespace

tls_files::tls_files(const char* name, server_certificate_is kind) {
    const auto authority = make(name, 1, nullptr);
    write(authority, ca(), file("ca.key"));
    const bool is_named_otherwise = kind == server_certificate_is::for_another_name;
    const auto server =
        make("test server", 2, &authority, is_named_otherwise ? "IP:192.0.2.1" : "IP:127.0.0.1",
             kind == server_certificate_is::expired ? -1 : day_seconds);
    write(server, server_certificate(), server_key());
    const auto client = make("test client", 3, &authority);
    write(client, client_certificate(), client_key());
    write_encrypted(client.key.get(), encrypted_client_key());
}

}  // namespace walrelay::test
