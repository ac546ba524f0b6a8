#include "postgres/session/transport.hpp"

namespace walrelay::postgres {
namespace {

bool is_of_this_machine(const transport_facts& facts) {
    const bool is_socket = facts.host.starts_with('/') || facts.host.starts_with('@');
    return is_socket || facts.address.starts_with("127.") || facts.address == "::1";
}

}  // namespace

transport_safety judge_transport(const transport_facts& facts) {
    if (is_of_this_machine(facts)) {
        return transport_safety::local;
    }
    if (facts.gss || (facts.tls && facts.sslmode == "verify-full")) {
        return transport_safety::verified;
    }
    return facts.tls ? transport_safety::unverified : transport_safety::clear;
}

}  // namespace walrelay::postgres
