// The other servers of a cluster, as those of nats.urls have told of them (connect_urls of an INFO;
// docs.nats.io, "NATS Protocol"). They are known to the whole process, so that each connection
// finds them, and forgotten with it. What a server tells is anybody's: a list has a limit, and a
// server of it gets nothing that one of nats.urls would not get, see `others`. Beside them the
// names of the servers, so that the one which leads a stream is found.
#pragma once

#include "nats/session/connect_options.hpp"
#include "nats/session/server_address.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
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
    static constexpr std::size_t names_max = 64;

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

    /// What the server at this address has called itself. Anybody can claim a name: it decides
    /// which server is tried first, and nothing else.
    void met(const server_address& server, const std::string& name);
    /// Nothing where it has not been met.
    [[nodiscard]] std::optional<std::string> name_of(const server_address& server) const;

    /// A connection to the server of that name has ended, and had answered a publish or not. One
    /// that had not is tried in its turn the next time, whatever it leads.
    void parted(const std::string& name, bool was_of_use);
    /// Whether that name is of a server that is to be passed over, once.
    [[nodiscard]] bool take_useless(const std::string& name);

private:
    mutable std::mutex guard_;
    std::map<std::string, std::vector<server_address>> known_;  // by nats.urls
    std::map<std::string, std::string> names_;                  // by address
    std::string useless_;
};

}  // namespace walrelay::nats
