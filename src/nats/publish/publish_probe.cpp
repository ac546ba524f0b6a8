#include "nats/publish/publish_probe.hpp"

#include "nats/session/connect_error.hpp"
#include "nats/session/inbox.hpp"
#include "nats/session/server_session.hpp"
#include "nats/session/wire_lines.hpp"
#include "nats/session/wire_parser.hpp"

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace walrelay::nats {

namespace asio = boost::asio;

namespace {

/// What the server says until it answers the ping that came last.
struct heard {
    std::vector<std::string> refusals;
    /// It has ended the connection.
    bool over = false;
};

void append_try(std::string& lines, const std::string& subject, std::string_view reply) {
    message nothing;
    nothing.subject = subject;
    nothing.id = "walrelay-check";
    append_publish(lines, nothing,
                   {.inbox = reply,
                    .index = std::numeric_limits<std::uint64_t>::max(),
                    .expected_last_sequence = std::nullopt,
                    .refused_unless_stream = "walrelay check: not to be stored"});
}

asio::awaitable<heard> listen(std::shared_ptr<wire_socket> socket) {
    heard all;
    for (;;) {
        auto rest = socket->unread();
        const auto found = take_operation(rest);
        if (found.verb == wire_verb::incomplete) {
            all.over = static_cast<bool>(co_await socket->read_more());
            if (all.over) {
                co_return all;
            }
            continue;
        }
        if (found.verb == wire_verb::err) {
            all.refusals.emplace_back(found.text);
        }
        socket->consume(socket->unread().size() - rest.size());
        if (found.verb == wire_verb::pong || found.verb == wire_verb::malformed) {
            all.over = found.verb == wire_verb::malformed;
            co_return all;
        }
    }
}

asio::awaitable<heard> ask(std::shared_ptr<wire_socket> socket) {
    socket->lines() += ping_line;
    socket->flush();
    co_return co_await listen(std::move(socket));
}

void take_refused(const heard& all, const std::vector<std::string>& subjects,
                  publish_trial& trial) {
    for (const auto& subject : subjects) {
        for (const auto& said : all.refusals) {
            if (is_about_a_right(said) && said.find("\"" + subject + "\"") != std::string::npos) {
                trial.refused.emplace_back(subject, said);
                break;
            }
        }
    }
}

asio::awaitable<void> try_all(std::shared_ptr<wire_socket> socket, const connect_options& options,
                              const std::vector<std::string>& subjects, std::size_t longest,
                              publish_trial& trial) {
    for (const auto& subject : subjects) {
        append_try(socket->lines(), subject, "_R_.walrelay_check.");
    }
    const auto first = co_await ask(socket);
    take_refused(first, subjects, trial);
    if (first.over || subjects.empty()) {
        co_return;
    }
    auto subject = subjects.front();
    subject.resize(std::max(subject.size(), longest), 'x');
    // As long as the ones of publishes.
    std::string reply = "_R_.";
    reply.resize(new_reply_inbox(options.inbox_prefix).size(), 'x');
    const auto before = socket->lines().size();
    append_try(socket->lines(), subject, reply);
    const auto line = socket->lines().find('\n', before) - before;
    const auto last = co_await ask(socket);
    for (const auto& said : last.refusals) {
        trial.too_long_line_bytes = is_about_a_line(said) ? line : trial.too_long_line_bytes;
    }
}

}  // namespace

asio::awaitable<result<publish_trial>> try_publishes(asio::any_io_executor executor,
                                                     connect_options options,
                                                     std::vector<std::string> subjects,
                                                     std::size_t subject_max_bytes) {
    const auto session = co_await open_session(executor, options, 1, "");
    if (!session) {
        co_return session.error();
    }
    const auto socket = session->socket;
    asio::steady_timer clock(executor, options.timeout);
    clock.async_wait([socket](const boost::system::error_code& cancelled) {
        if (!cancelled) {
            socket->close();
        }
    });
    publish_trial trial;
    co_await try_all(socket, options, subjects, subject_max_bytes, trial);
    clock.cancel();
    socket->close();
    co_return trial;
}

}  // namespace walrelay::nats
