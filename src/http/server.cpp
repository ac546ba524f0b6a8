#include "http/server.hpp"

#include "core/rethrow.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <list>
#include <optional>
#include <string_view>
#include <utility>

namespace walrelay::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace protocol = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr auto quietly = asio::as_tuple(asio::use_awaitable);

struct connection {
    explicit connection(tcp::socket socket) : stream(std::move(socket)) {}

    beast::tcp_stream stream;
    beast::flat_buffer buffer;
    /// Between two requests.
    bool idle = true;

    void close() {
        boost::system::error_code gone;
        stream.socket().close(gone);
    }
};

using parser = protocol::request_parser<protocol::empty_body>;
using header = protocol::request_header<>;

answer refuse(protocol::status status, std::string text) {
    return {static_cast<unsigned>(status), "text/plain; charset=utf-8", std::move(text) + "\n"};
}

bool is_read_only(const header& asked) {
    return asked.method() == protocol::verb::get || asked.method() == protocol::verb::head;
}

bool has_body(const parser& asked) {
    return asked.chunked() || asked.content_length().value_or(0) != 0;
}

/// Why it is not answered; nothing where it is.
std::optional<answer> refusal_of(const parser& asked, const std::vector<std::string>& hosts) {
    const header& request = asked.get();
    if (!is_read_only(request)) {
        return refuse(protocol::status::method_not_allowed, "only GET and HEAD are answered");
    }
    if (has_body(asked) || !request.target().starts_with('/')) {
        return refuse(protocol::status::bad_request, "this is no request that is answered");
    }
    if (request.count(protocol::field::host) != 1) {
        return refuse(protocol::status::bad_request, "a request names one host");
    }
    const auto host = request[protocol::field::host];
    if (!is_known_host({host.data(), host.size()}, hosts)) {
        return refuse(protocol::status::misdirected_request,
                      "this host is not known; add its name to http.hosts");
    }
    return std::nullopt;
}

/// A page of elsewhere may neither embed this one nor read it, and this one loads nothing of
/// elsewhere.
void add_headers(protocol::fields& to) {
    to.set("Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
           "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    to.set("X-Content-Type-Options", "nosniff");
    to.set("Referrer-Policy", "no-referrer");
    to.set("Cross-Origin-Resource-Policy", "same-origin");
    to.set(protocol::field::cache_control, "no-store");
}

template <class Body>
protocol::response<Body> response_of(const answer& what, unsigned version, bool keep_open) {
    protocol::response<Body> response;
    response.version(version);
    response.result(what.status);
    add_headers(response);
    response.set(protocol::field::content_type, what.content_type);
    if (what.status == static_cast<unsigned>(protocol::status::method_not_allowed)) {
        response.set(protocol::field::allow, "GET, HEAD");
    }
    response.keep_alive(keep_open);
    response.content_length(what.body.size());
    return response;
}

template <class Body>
asio::awaitable<bool> write(connection& to, protocol::response<Body> response) {
    protocol::response_serializer<Body> serializer(response);
    const auto [failure, bytes] = co_await protocol::async_write(to.stream, serializer, quietly);
    co_return !failure;
}

}  // namespace

struct server::state : std::enable_shared_from_this<server::state> {
    state(const asio::any_io_executor& executor, const listener& on, server_options of,
          report_source source)
        : acceptor(executor), options(std::move(of)), from(std::move(source)) {
        acceptor.assign(on.is_v6() ? tcp::v6() : tcp::v4(), on.duplicate());
    }

    asio::awaitable<void> accept();
    asio::awaitable<void> serve(std::shared_ptr<connection> with);
    /// False where the connection is at its end.
    asio::awaitable<bool> serve_one(connection& with);
    asio::awaitable<bool> await_request(connection& with, bool first) const;
    answer answer_of(std::string_view target, std::string_view accept);
    asio::awaitable<bool> send(connection& to, const parser& asked, answer what,
                               bool keep_open) const;
    void make_room();

    tcp::acceptor acceptor;
    server_options options;
    report_source from;
    struct kept_metrics {
        std::optional<answer> what = {};
        std::chrono::steady_clock::time_point made = {};
        std::uint64_t state = 0;
    };
    /// By format.
    std::array<kept_metrics, 2> metrics;
    std::list<std::shared_ptr<connection>> open;
    bool ended = false;
};

void server::state::make_room() {
    if (open.size() < options.limits.connections) {
        return;
    }
    auto leaving = open.begin();
    for (auto each = open.begin(); each != open.end(); ++each) {
        if ((*each)->idle) {
            leaving = each;
            break;
        }
    }
    (*leaving)->close();
    open.erase(leaving);
}

asio::awaitable<void> server::state::accept() {
    const auto self = shared_from_this();
    constexpr std::chrono::seconds without_descriptors{1};
    while (!ended) {
        auto [failure, socket] = co_await acceptor.async_accept(quietly);
        if (ended) {
            co_return;
        }
        if (failure) {
            asio::steady_timer timer(acceptor.get_executor(), without_descriptors);
            co_await timer.async_wait(quietly);
            continue;
        }
        make_room();
        const auto one = std::make_shared<connection>(std::move(socket));
        open.push_back(one);
        asio::co_spawn(acceptor.get_executor(), serve(one), rethrow{});
    }
}

asio::awaitable<void> server::state::serve(std::shared_ptr<connection> with) {
    const auto self = shared_from_this();
    bool first = true;
    while (!ended) {
        const bool asked = co_await await_request(*with, std::exchange(first, false));
        if (!asked || ended) {
            break;
        }
        with->idle = false;
        const bool goes_on = co_await serve_one(*with);
        with->idle = true;
        if (!goes_on) {
            break;
        }
        // The next to be asked to leave is who has been here longest without a request.
        open.remove(with);
        open.push_back(with);
    }
    with->close();
    open.remove(with);
}

asio::awaitable<bool> server::state::await_request(connection& with, bool first) const {
    if (with.buffer.size() > 0) {
        co_return true;
    }
    constexpr std::size_t enough_bytes = 1024;
    const auto& limits = options.limits;
    with.stream.expires_after(first ? limits.request_time : limits.idle_time);
    const auto [failure, bytes] =
        co_await with.stream.async_read_some(with.buffer.prepare(enough_bytes), quietly);
    with.buffer.commit(bytes);
    co_return !failure;
}

answer server::state::answer_of(std::string_view target, std::string_view accept) {
    const auto format = format_wanted(accept);
    if (target != "/metrics") {
        return answer_to(target, from, format);
    }
    const auto now = std::chrono::steady_clock::now();
    const auto state_now = from.state();
    auto& kept = metrics[static_cast<std::size_t>(format)];
    if (!kept.what || kept.state != state_now || now - kept.made >= options.limits.metrics_for) {
        kept = {answer_to(target, from, format), now, state_now};
    }
    return *kept.what;
}

asio::awaitable<bool> server::state::serve_one(connection& with) {
    parser asked;
    asked.header_limit(options.limits.header_bytes);
    with.stream.expires_after(options.limits.request_time);
    const auto [failure, bytes] =
        co_await protocol::async_read_header(with.stream, with.buffer, asked, quietly);
    if (ended) {
        co_return false;
    }
    if (failure == protocol::error::header_limit) {
        co_return co_await send(
            with, asked,
            refuse(protocol::status::request_header_fields_too_large, "the headers are too long"),
            false);
    }
    if (failure == beast::error::timeout || failure == asio::error::operation_aborted ||
        failure == protocol::error::end_of_stream) {
        co_return false;
    }
    if (failure) {
        co_return co_await send(
            with, asked, refuse(protocol::status::bad_request, "this is no HTTP request"), false);
    }
    if (auto refused = refusal_of(asked, options.hosts)) {
        co_return co_await send(with, asked, std::move(*refused), false);
    }
    const auto target = asked.get().target();
    const auto accept = asked.get()[protocol::field::accept];
    auto what = answer_of({target.data(), target.size()}, {accept.data(), accept.size()});
    co_return co_await send(with, asked, std::move(what), asked.keep_alive());
}

asio::awaitable<bool> server::state::send(connection& to, const parser& asked, answer what,
                                          bool keep_open) const {
    constexpr unsigned http_1_1 = 11;
    const auto version = asked.is_header_done() ? asked.get().version() : http_1_1;
    to.stream.expires_after(options.limits.request_time);
    bool sent = false;
    if (asked.get().method() == protocol::verb::head) {
        sent = co_await write(to, response_of<protocol::empty_body>(what, version, keep_open));
    } else {
        auto response = response_of<protocol::string_body>(what, version, keep_open);
        response.body() = std::move(what.body);
        sent = co_await write(to, std::move(response));
    }
    co_return sent&& keep_open;
}

server::server(const asio::any_io_executor& executor, const listener& on, server_options options,
               report_source source)
    : state_(std::make_shared<state>(executor, on, std::move(options), std::move(source))) {
    asio::co_spawn(executor, state_->accept(), rethrow{});
}

server::~server() {
    state_->ended = true;
    boost::system::error_code gone;
    state_->acceptor.close(gone);
    for (const auto& each : state_->open) {
        each->close();
    }
}

}  // namespace walrelay::http
