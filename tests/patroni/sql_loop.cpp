// See sql_loop.hpp.
#include "patroni/sql_loop.hpp"

#include "support/eventually.hpp"

#include <stdexcept>
#include <utility>

namespace walrelay::patroni {

sql_loop::sql_loop(std::string conninfo,
                   std::function<void(test::postgres_session&, std::uint64_t)> once)
    : conninfo_(std::move(conninfo)), once_(std::move(once)), thread_([this] { work(); }) {}

sql_loop::~sql_loop() {
    stop();
}

void sql_loop::stop() {
    stopping_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
}

void sql_loop::work() {
    while (!stopping_) {
        try {
            for (test::postgres_session session(conninfo_); !stopping_; ++done_) {
                once_(session, ++next_);
            }
        } catch (const std::runtime_error&) {
            // There is no primary at the moment.
            (void)test::eventually(std::chrono::milliseconds(100),
                                   [this] { return stopping_.load(); });
        }
    }
}

}  // namespace walrelay::patroni
