// The other servers of a cluster, as those of nats.urls have told of them (connect_urls of an INFO;
// docs.nats.io, "NATS Protocol"). They are known to the whole process, so that each connection
// finds them, and forgotten with it. What a server tells is anybody's: a list has a limit, and a
// server of it gets nothing that one of nats.urls would not get, see `others`. Beside them the
// names of the servers, so that the one which leads a stream is found.
#pragma once

#include "nats/session/connect_options.hpp"
#include "nats/session/server_address.hpp"

#include <chrono>
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
    /// tells it: host:port. What cannot be that is left out. `before_tls`: it was told in the
    /// clear, and what followed was not.
    void learn(const connect_options& of, const telling_server& by,
               const std::vector<std::string>& listed, bool before_tls = false);

    /// Those that are not in nats.urls. Each is spoken to through TLS, and its certificate must
    /// have its own name, where that is so of a server of nats.urls or of the one that told of it;
    /// what stands before the @ of that one's address is for it as well.
    [[nodiscard]] std::vector<server_address> others(const connect_options& of) const;

    /// Whether a leader may be looked for among those: not where their list was read before TLS
    /// began, when anybody on the way can have written it.
    [[nodiscard]] bool may_lead(const connect_options& of) const;

    /// What the server at this address calls itself; empty where it was asked and did not answer.
    /// Anybody can claim a name: it decides which server is tried first, and nothing else.
    void met(const server_address& server, const std::string& name);
    /// Nothing where it was not asked, or did not answer, some seconds ago.
    [[nodiscard]] std::optional<std::string> name_of(const server_address& server) const;

    /// The server of that name has acked a publish, or none of those that it was sent.
    void acked(const std::string& name, bool any);
    /// Whether it has acked nothing when it was tried last, within the last minutes: it is tried in
    /// its turn then, whatever it leads.
    [[nodiscard]] bool is_avoided(const std::string& name) const;

private:
    mutable std::mutex guard_;
    struct told_list {
        std::vector<server_address> servers;
        bool may_lead = false;
    };
    struct heard_name {
        std::string name;
        std::chrono::steady_clock::time_point at;
    };
    std::map<std::string, told_list> known_;   // by nats.urls
    std::map<std::string, heard_name> names_;  // by address
    heard_name avoided_;
};

}  // namespace walrelay::nats
