// Looks every now and then where the slot stands, and what the relay's sessions in PostgreSQL do.
#pragma once

#include "soak/diary.hpp"
#include "soak/workers.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace walrelay::soak {

struct session_sample {
    moment when;
    /// For people: what each session waits for and who holds it up, and its last statement.
    std::string text;
};

class slot_watch {
public:
    explicit slot_watch(const std::string& conninfo);

    void stop() { thread_.stop(); }
    /// From one move of the slot to the next.
    [[nodiscard]] std::vector<period> stands() const;
    [[nodiscard]] std::vector<session_sample> sessions() const;

private:
    void look(test::postgres_session& sql);

    mutable std::mutex mutex_;
    std::string confirmed_;
    std::vector<moment> moves_;
    std::vector<session_sample> sessions_;
    workers thread_;
};

}  // namespace walrelay::soak
