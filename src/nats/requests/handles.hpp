// Owners of nats.c's C handles. Only for this folder: nats.h goes no further.
#pragma once

#include "core/change.hpp"

#include <nats/nats.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

namespace walrelay::nats {

template <auto destroy>
struct deleter {
    template <class Handle>
    void operator()(Handle* handle) const {
        destroy(handle);
    }
};

using options_handle = std::unique_ptr<natsOptions, deleter<natsOptions_Destroy>>;
using subscription_handle = std::unique_ptr<natsSubscription, deleter<natsSubscription_Destroy>>;
using message_handle = std::unique_ptr<natsMsg, deleter<natsMsg_Destroy>>;
using jetstream_handle = std::unique_ptr<jsCtx, deleter<jsCtx_Destroy>>;
using consumer_info_handle = std::unique_ptr<jsConsumerInfo, deleter<jsConsumerInfo_Destroy>>;
using message_data_handle = std::unique_ptr<jsMsgMetaData, deleter<jsMsgMetaData_Destroy>>;
using stream_info_handle = std::unique_ptr<jsStreamInfo, deleter<jsStreamInfo_Destroy>>;
using consumer_info_handle = std::unique_ptr<jsConsumerInfo, deleter<jsConsumerInfo_Destroy>>;

/// Empty if the message has no such header; lives as long as the message.
inline std::string_view header_of(natsMsg* message, const char* name) {
    const char* value = nullptr;
    return natsMsgHeader_Get(message, name, &value) == NATS_OK && value != nullptr ? value : "";
}

/// Of the library's nanoseconds since 1970.
inline wall_time to_wall_time(std::int64_t nanoseconds) {
    return wall_time(std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::nanoseconds(nanoseconds)));
}

}  // namespace walrelay::nats
