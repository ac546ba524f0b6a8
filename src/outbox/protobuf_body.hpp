// The body `protobuf`: proto/walrelay/v1/event.proto.
#pragma once

#include "core/error.hpp"
#include "outbox/row_view.hpp"
#include "walrelay/v1/event.pb.h"

#include <string>

namespace walrelay::outbox {

/// Keeps one event and fills it again for each row: its strings keep their memory.
class protobuf_body {
public:
    /// Errors: row_unmappable.
    [[nodiscard]] result<void> append(const row_view& view, std::string& body);

private:
    result<void> fill(const row_view& view);
    result<void> fill_version(const row_view& view);
    result<void> fill_timestamp(const row_view& view);

    v1::Event event_;
};

}  // namespace walrelay::outbox
