#include "preflight/transport.hpp"

namespace walrelay::preflight {

void look_at_transport(const postgres_facts& facts, findings_list& found) {
    constexpr const char* remedy =
        "give PostgreSQL a certificate (ssl = on) and add to postgres.conninfo: "
        "sslmode=verify-full sslrootcert=/path/to/the/authority.pem";
    if (facts.transport == transport_safety::clear) {
        found.warning(
            "postgres_not_encrypted",
            "the connection to PostgreSQL leaves this machine and is not encrypted: everybody on "
            "the way can read the rows, and what authenticates walrelay",
            remedy);
    } else if (facts.transport == transport_safety::unverified) {
        found.warning(
            "postgres_not_verified",
            "the connection to PostgreSQL is encrypted, but believes any server that answers "
            "(sslmode is weaker than verify-full): somebody on the way can pose as the database",
            remedy);
    }
}

void look_at_transport(const broker_facts& facts, findings_list& found) {
    if (facts.told_in_clear) {
        found.warning(
            "broker_not_encrypted",
            "a password or token went to the broker without encryption: everybody on the way can "
            "read it, and publish in walrelay's place",
            "give nats-server a tls block, and write tls:// in nats.urls (with nats.tls.ca where "
            "its authority is not one of the system's); then change the password or token");
    }
}

}  // namespace walrelay::preflight
