// The other servers of a cluster, as those of nats.urls have told of them (connect_urls of an INFO;
// docs.nats.io, "NATS Protocol"). They are known to the whole process, so that each connection
// finds them, and forgotten with it. What a server tells is anybody's: a list has a limit, and a
// server of it gets nothing that one of nats.urls would not get, see `others`.
#pragma once

#include "nats/session/connect_options.hpp"
#include "nats/session/server_address.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace walrelay::nats {

/// Who has told of others, and how it was talked to.
struct telling_server {
    server_address address;
    bool over_tls = false;
};

/// From any thread.
class learned_servers {
public:
    static constexpr std::size_t count_max = 16;

    /// Those of this process.
    [[nodiscard]] static learned_servers& shared();

    /// Takes a list in place of the one before; an empty one says nothing. `listed` as a server
    /// tells it: host:port. What cannot be that is left out.
    void learn(const connect_options& of, const telling_server& by,
               const std::vector<std::string>& listed);

    /// Those that are not in nats.urls. Each is spoken to through TLS, and its certificate must
    /// have its own name, where that is so of a server of nats.urls or of the one that told of it;
    /// what stands before the @ of that one's address is for it as well.
    [[nodiscard]] std::vector<server_address> others(const connect_options& of) const;

private:
    mutable std::mutex guard_;
    std::map<std::string, std::vector<server_address>> known_;  // by nats.urls
};

}  // namespace walrelay::nats
