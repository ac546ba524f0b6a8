// The last look at what goes out as headers, after everything was put in.
#pragma once

#include "core/error.hpp"
#include "core/message.hpp"

namespace walrelay::outbox {

/// Whether neither the subject, the id nor a header can end its line. The parts are made so that
/// none does; this is what holds if one of them is not. errc::row_unmappable.
[[nodiscard]] result<void> check_lines(const message& content);

}  // namespace walrelay::outbox
