// A collector of traces of the test's own: takes every request of OTLP over HTTP, and keeps it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace walrelay::test {

struct collected_request {
    std::string target;
    /// As they came, one a line, ended with CRLF.
    std::string headers;
    std::string body;
};

/// On 127.0.0.1. Running once constructed; everything happens in a thread of its own.
class trace_collector {
public:
    /// 0 takes any free port.
    explicit trace_collector(std::uint16_t port = 0);
    ~trace_collector();
    trace_collector(const trace_collector&) = delete;
    trace_collector& operator=(const trace_collector&) = delete;

    [[nodiscard]] std::uint16_t port() const;
    [[nodiscard]] std::string url() const;
    /// Those that were read to their end, in this order.
    [[nodiscard]] std::vector<collected_request> requests() const;
    /// All bodies in one text.
    [[nodiscard]] std::string bodies() const;
    /// Connections that were made to it.
    [[nodiscard]] std::size_t connections() const;

    /// The answer to the next requests.
    void answer_with(unsigned status, const std::string& body = "{}");
    /// From now on requests are read and not answered.
    void fall_silent();
    /// Each connection ends after one answer, without a word.
    void hang_up_after_each();

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace walrelay::test
