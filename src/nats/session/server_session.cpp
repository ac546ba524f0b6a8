#include "nats/session/server_session.hpp"

#include "core/rethrow.hpp"
#include "nats/session/as_outcome.hpp"
#include "nats/session/connect_error.hpp"
#include "nats/session/tls_context.hpp"
#include "nats/session/tls_error.hpp"
#include "nats/session/wire_lines.hpp"
#include "nats/session/wire_parser.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace walrelay::nats {

namespace asio = boost::asio;

namespace {

/// One try at one server. Held by the coroutine that runs it.
class attempt : public std::enable_shared_from_this<attempt> {
public:
    attempt(const asio::any_io_executor& executor, const connect_options& how,
            const secrets& proofs)
        : options_(how),
          known_(proofs),
          socket_(std::make_shared<wire_socket>(executor)),
          timer_(executor) {}

    asio::awaitable<result<server_session>> join(server_address server, std::string lines);
    /// Hears its name, which learned_servers keeps, and goes again. No secret is told.
    asio::awaitable<void> meet(server_address server);
    /// From without.
    void give_up() { socket_->close(); }

private:
    asio::awaitable<result<void>> log_in(const server_address& server, const std::string& lines);
    asio::awaitable<result<void>> reach(const server_address& server);
    asio::awaitable<result<void>> greet(const server_address& server);
    asio::awaitable<result<void>> go_over_to_tls(const server_address& server);
    asio::awaitable<result<void>> await_welcome();
    void adopt(std::string_view info);
    asio::awaitable<result<wire_operation>> next_operation();
    void start_clock();

    const connect_options& options_;
    const secrets& known_;
    std::shared_ptr<wire_socket> socket_;
    asio::steady_timer timer_;
    std::string server_name_;  // "host:port"
    bool expired_ = false;
    bool tls_ = false;
    bool others_were_in_clear_ = false;
    greeting met_;
};

bool wants_tls(const connect_options& options, const server_address& server) {
    return server.tls || options.tls_handshake_first || !options.tls_ca.empty() ||
           !options.tls_cert.empty();
}

/// What proves who we are by being known, unlike a signature.
bool tells_a_secret(const server_address& server, const secrets& known) {
    return !server.user.empty() || !server.token.empty() || !known.password.empty() ||
           !known.token.empty();
}

void attempt::start_clock() {
    timer_.expires_after(options_.timeout);
    timer_.async_wait([held = weak_from_this()](const boost::system::error_code& cancelled) {
        const auto self = held.lock();
        if (!cancelled && self) {
            self->expired_ = true;
            self->socket_->close();
        }
    });
}

asio::awaitable<result<server_session>> attempt::join(server_address server, std::string lines) {
    const auto self = shared_from_this();
    server_name_ = to_string(server);
    start_clock();
    const auto done = co_await log_in(server, lines);
    timer_.cancel();
    if (done) {
        const bool in_clear = !tls_ && !socket_->is_local() && tells_a_secret(server, known_);
        const telling_server joined{std::move(server), tls_};
        learned_servers::shared().learn(options_, joined, met_.others,
                                        tls_ && others_were_in_clear_);
        co_return server_session{socket_, std::move(met_), in_clear, joined};
    }
    if (expired_) {
        co_return unreachable(options_, to_string(server) + " does not answer in time");
    }
    co_return done.error();
}

asio::awaitable<void> attempt::meet(server_address server) {
    const auto self = shared_from_this();
    start_clock();
    co_await reach(server);
    timer_.cancel();
    socket_->close();
}

/// Up to the server's first words.
asio::awaitable<result<void>> attempt::reach(const server_address& server) {
    const auto failure = co_await socket_->reach(server);
    if (failure) {
        co_return unreachable(options_, to_string(server) + ": " + failure.message());
    }
    if (options_.tls_handshake_first) {
        if (auto secured = co_await go_over_to_tls(server); !secured) {
            co_return secured;
        }
    }
    co_return co_await greet(server);
}

asio::awaitable<result<void>> attempt::log_in(const server_address& server,
                                              const std::string& lines) {
    if (auto reached = co_await reach(server); !reached) {
        co_return reached;
    }
    const bool wants = wants_tls(options_, server);
    if (!tls_ && wants && !met_.tls_required && !met_.tls_available) {
        co_return without_tls(options_, to_string(server) + " does not speak TLS");
    }
    if (!tls_ && (wants || met_.tls_required)) {
        if (auto secured = co_await go_over_to_tls(server); !secured) {
            co_return secured;
        }
    }
    auto line = connect_line(met_, server, known_, tls_);
    if (!line) {
        co_return line.error();
    }
    // In one piece, so that no other place of memory keeps it.
    socket_->lines().reserve(line->size() + lines.size() + ping_line.size());
    socket_->lines() += *line;
    wipe(*line);
    socket_->lines() += lines;
    socket_->lines() += ping_line;
    socket_->flush();
    co_return co_await await_welcome();
}

asio::awaitable<result<void>> attempt::greet(const server_address& server) {
    const auto first = co_await next_operation();
    if (!first) {
        co_return first.error();
    }
    auto met = parse_greeting(first->verb == wire_verb::info ? first->text : "");
    if (!met) {
        co_return unreachable(options_, met.error().what);
    }
    met_ = std::move(*met);
    others_were_in_clear_ = !tls_;
    learned_servers::shared().met(server, met_.name);
    co_return result<void>{};
}

asio::awaitable<result<void>> attempt::go_over_to_tls(const server_address& server) {
    auto context = make_tls_context(options_);
    if (!context) {
        co_return context.error();
    }
    if (!socket_->unread().empty()) {
        co_return unreachable(options_, "bytes in the clear where TLS was to begin");
    }
    const auto failure = co_await socket_->secure(std::move(*context), server.host);
    if (failure) {
        co_return explain_tls(options_, to_string(server), failure,
                              socket_->verdict_on_certificate());
    }
    tls_ = true;
    co_return result<void>{};
}

/// Until the second PONG. The first says that all before it was taken; after it comes an INFO where
/// the account or the user has a lower max_payload than the server (nats-server, client.go,
/// processPing), and nothing says whether one comes but the answer to another PING.
asio::awaitable<result<void>> attempt::await_welcome() {
    for (bool is_taken = false;;) {
        const auto answer = co_await next_operation();
        if (!answer) {
            co_return answer.error();
        }
        if (answer->verb == wire_verb::err) {
            co_return refusal(options_, answer->text);
        }
        if (answer->verb == wire_verb::info) {
            adopt(answer->text);
        }
        if (answer->verb == wire_verb::pong && is_taken) {
            co_return result<void>{};
        }
        if (answer->verb == wire_verb::pong) {
            is_taken = true;
            socket_->forget_sent();
            socket_->lines() += ping_line;
            socket_->flush();
        }
        if (answer->verb == wire_verb::ping) {
            socket_->lines() += pong_line;
            socket_->flush();
        }
    }
}

void attempt::adopt(std::string_view info) {
    auto said = parse_greeting(info);
    if (said && said->max_payload_bytes != 0) {
        met_.max_payload_bytes = said->max_payload_bytes;
    }
    if (said && !said->others.empty()) {
        met_.others = std::move(said->others);
        others_were_in_clear_ = !tls_;
    }
}

asio::awaitable<result<wire_operation>> attempt::next_operation() {
    for (;;) {
        auto rest = socket_->unread();
        const auto found = take_operation(rest);
        if (found.verb == wire_verb::malformed) {
            co_return unreachable(options_, "the answer is not NATS's protocol");
        }
        if (found.verb != wire_verb::incomplete) {
            socket_->consume(socket_->unread().size() - rest.size());
            co_return found;
        }
        const auto failure = co_await socket_->read_more();
        if (failure) {
            auto refused = client_certificate_refused(options_, server_name_, failure);
            co_return refused ? *std::move(refused) : unreachable(options_, failure.message());
        }
    }
}

/// A server that may let us in.
struct candidate {
    server_address server;
    /// Of nats.urls: only what keeps us from these is worth telling.
    bool is_configured = true;
    /// It is tried before the others where it leads the stream.
    bool may_lead = true;
};

result<std::vector<candidate>> candidates_of(const connect_options& options, std::size_t first) {
    std::vector<candidate> all;
    for (std::size_t index = 0; index < options.urls.size(); ++index) {
        auto server = parse_server_address(options.urls[(first + index) % options.urls.size()]);
        if (!server) {
            return server.error();
        }
        all.push_back({std::move(*server)});
    }
    const bool may_lead = learned_servers::shared().may_lead(options);
    for (auto& server : learned_servers::shared().others(options)) {
        all.push_back({std::move(server), false, may_lead});
    }
    return all;
}

/// As learned_servers has it; empty of one that is no leader to us.
std::optional<std::string> name_of(const candidate& one) {
    return one.may_lead ? learned_servers::shared().name_of(one.server) : "";
}

std::vector<candidate>::iterator leader_among(std::vector<candidate>& all,
                                              const std::string& leader) {
    return std::ranges::find_if(all,
                                [&](const candidate& each) { return name_of(each) == leader; });
}

/// Servers that are asked for their names. Lasts as long as the slowest of them: the lookup of a
/// host name cannot be broken off.
struct meeting {
    meeting(const asio::any_io_executor& executor, connect_options with)
        : how(std::move(with)), over(executor, how.timeout) {}

    void one_was_met(const server_address& which) {
        const bool leads = learned_servers::shared().name_of(which) == how.leader;
        if (--left == 0 || leads) {
            is_over = true;
            over.cancel();
        }
    }

    connect_options how;
    secrets none;
    std::vector<std::shared_ptr<attempt>> attempts;
    std::size_t left = 0;
    asio::steady_timer over;
    bool is_over = false;
};

/// Until one of them is the leader. Who does not answer meanwhile is none.
asio::awaitable<void> meet(asio::any_io_executor executor, connect_options options,
                           std::vector<server_address> servers) {
    constexpr std::chrono::milliseconds patience{500};
    options.timeout = std::min(options.timeout, patience);
    const auto all = std::make_shared<meeting>(executor, std::move(options));
    all->left = servers.size();
    for (const auto& server : servers) {
        learned_servers::shared().met(server, "");
        all->attempts.push_back(std::make_shared<attempt>(executor, all->how, all->none));
        asio::co_spawn(executor, all->attempts.back()->meet(server),
                       [all, server](const std::exception_ptr& failure) {
                           rethrow{}(failure);
                           all->one_was_met(server);
                       });
    }
    if (!servers.empty() && !all->is_over) {
        co_await all->over.async_wait(as_outcome);
    }
    for (const auto& each : all->attempts) {
        each->give_up();
    }
    all->attempts.clear();
}

asio::awaitable<void> put_leader_first(asio::any_io_executor executor,
                                       const connect_options& options,
                                       std::vector<candidate>& all) {
    if (options.leader.empty() || all.size() < 2 ||
        learned_servers::shared().is_avoided(options.leader)) {
        co_return;
    }
    auto leader = leader_among(all, options.leader);
    if (leader == all.end()) {
        std::vector<server_address> unmet;
        for (const auto& each : all) {
            if (!name_of(each)) {
                unmet.push_back(each.server);
            }
        }
        co_await meet(executor, options, std::move(unmet));
        leader = leader_among(all, options.leader);
    }
    if (leader != all.end()) {
        std::rotate(all.begin(), leader, leader + 1);
    }
}

}  // namespace

bool may_be_reached(const connect_options& options, const std::string& name) {
    const auto servers = candidates_of(options, 0);
    return servers && servers->size() > 1 && !learned_servers::shared().is_avoided(name) &&
           std::ranges::any_of(*servers, [&](const candidate& each) {
               return name_of(each).value_or(name) == name;
           });
}

asio::awaitable<result<server_session>> open_session(asio::any_io_executor executor,
                                                     connect_options options, std::size_t first,
                                                     std::string lines) {
    auto known = read_secrets(options);
    if (!known) {
        co_return known.error();
    }
    const secrets_guard wiping(*known);
    auto servers = candidates_of(options, first);
    if (!servers) {
        co_return servers.error();
    }
    co_await put_leader_first(executor, options, *servers);
    error last = unreachable(options, "nats.urls is empty");
    for (auto& each : *servers) {
        const auto trying = std::make_shared<attempt>(executor, options, *known);
        auto joined = co_await trying->join(std::move(each.server), lines);
        if (joined) {
            co_return joined;
        }
        if (each.is_configured) {
            last = joined.error();
        }
    }
    co_return last;
}

}  // namespace walrelay::nats
