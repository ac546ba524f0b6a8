// A context of the nats command, as its file holds it. Pure: the text comes from whoever reads
// files. Source: nats-io/jsm.go, natscontext/context.go (the members of the JSON).
#pragma once

#include "config/read.hpp"

#include <boost/system/result.hpp>

#include <string>
#include <utility>
#include <vector>

namespace walrelay::config {

/// The file of a context, as it was found.
struct context_file {
    std::string path;
    std::string text;
    /// What a ~ in a path stands for.
    std::string home;
    /// Every user of the machine can read it.
    bool is_public = false;
};

struct nats_context {
    /// As the file has it; empty where it names none.
    std::string url = {};
    /// Values of keys of [nats], by the key's name; none is empty. `user` stands there only where
    /// that is how the context signs in, and so on.
    std::vector<std::pair<std::string, std::string>> values = {};
    std::string password = {};
    std::string token = {};
    bool tls_first = false;
};

/// Errors: not JSON, or something that cannot be left out and that walrelay has no key for; a
/// password or a token that everybody can read.
[[nodiscard]] read_result<nats_context> parse_nats_context(const context_file& from);

}  // namespace walrelay::config
