// What makes rows of walrelay.control of a test's frames ones that a relay obeys.
#pragma once

#include "relay/intake/control_proof.hpp"

#include <string>

namespace walrelay::test {

/// What walrelay.control_key holds.
inline constexpr const char* control_secret = "only walrelay's roles know";
/// Of the transactions of begin_frame.
inline constexpr const char* control_transaction = "1";

/// The column `proof` of their rows.
inline std::string proof_of_control() {
    return relay::control_proof(control_secret, control_transaction);
}

}  // namespace walrelay::test
