// The least that reads a logical replication slot: libpq, and no look at what a row says.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct pg_conn;

namespace walrelay::bench {

class replication_reader {
public:
    /// Starts at the slot's own position. Throws std::runtime_error, as everything here.
    replication_reader(const std::string& conninfo, const std::string& slot,
                       const std::vector<std::pair<std::string, std::string>>& plugin_options);

    [[nodiscard]] int socket() const;
    /// Reads what has arrived and calls `take` with the plugin's output, message for message.
    void read(const std::function<void(std::string_view)>& take);

private:
    struct closer {
        void operator()(pg_conn* connection) const;
    };

    void take_frame(std::string_view frame, const std::function<void(std::string_view)>& take);
    void report_position();

    std::unique_ptr<pg_conn, closer> connection_;
    std::uint64_t position_ = 0;
    std::chrono::steady_clock::time_point reported_;
};

}  // namespace walrelay::bench
