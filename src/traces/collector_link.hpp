// One connection to a collector: requests go out one after the other, plain or through TLS. It
// knows no time limit: whoever has one calls `close`.
#pragma once

#include "core/collector_url.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/system/error_code.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::traces {

/// Names and values.
using header_list = std::vector<std::pair<std::string, std::string>>;

struct collector_reply {
    /// Why there is none; of the resolver, the operating system, TLS, or HTTP.
    boost::system::error_code failure;
    unsigned status = 0;
    std::string body;
    /// The connection had been used before: the collector may have ended it meanwhile.
    bool was_reused = false;
};

class collector_link : public std::enable_shared_from_this<collector_link> {
public:
    collector_link(boost::asio::io_context& io, collector_url where, header_list headers);

    /// Connects first where that has not been done. Keeps itself until then.
    [[nodiscard]] boost::asio::awaitable<collector_reply> post(std::string body);
    /// Whether it can be used again.
    [[nodiscard]] bool is_open() const { return is_open_; }
    /// A name is being looked up, which nobody can end.
    [[nodiscard]] bool is_resolving() const { return is_resolving_; }
    void close();

private:
    using tcp = boost::asio::ip::tcp;
    using request = boost::beast::http::request<boost::beast::http::string_body>;

    boost::asio::awaitable<boost::system::error_code> open();
    boost::asio::awaitable<boost::system::error_code> secure();
    [[nodiscard]] request request_of(std::string body) const;
    template <class Stream>
    boost::asio::awaitable<collector_reply> exchange(Stream& over, request what);

    collector_url where_;
    header_list headers_;
    tcp::resolver resolver_;
    tcp::socket socket_;
    std::optional<boost::asio::ssl::context> trusted_;
    std::optional<boost::asio::ssl::stream<tcp::socket&>> tls_;
    boost::beast::flat_buffer buffer_;
    bool is_open_ = false;
    bool is_resolving_ = false;
    bool is_closed_ = false;
};

}  // namespace walrelay::traces
