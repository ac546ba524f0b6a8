// Events of outboxes without a table: logical messages with a configured prefix. Pure.
#pragma once

#include "relay/intake/event_placer.hpp"
#include "relay/intake/message_rows.hpp"

#include <functional>
#include <map>
#include <string>

namespace walrelay::relay {

class tableless_source {
public:
    /// `events` must outlive this.
    explicit tableless_source(event_placer& events);

    result<void> take(const logical_message& said, const reading& now);

private:
    struct tableless {
        std::size_t table;
        message_rows rows;
    };
    result<void> set_aside(tableless& from, const logical_message& said, const error& why,
                           const reading& now);

    event_placer& events_;
    std::map<std::string, tableless, std::less<>> by_prefix_;
};

}  // namespace walrelay::relay
