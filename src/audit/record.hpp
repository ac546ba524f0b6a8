// What is remembered of one row or one message until its bucket is compared, and the bytes that it
// takes on the disk.
//
//     kind  number  group  [commit  row  index]  length of the id  id
//
// kind is a byte, the id is bytes, everything else a number of 7 bits a byte, the lowest first,
// with the high bit set on all but the last byte. Commit, row and index are there for messages
// only.
#pragma once

#include "core/position.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay::audit {

enum class record_kind : std::uint8_t {
    row,
    message,
    /// A message whose id begins with this id and a semicolon.
    republication,
    dead_letter,
    /// A message that walrelay did not write.
    stranger,
    /// A message from before what is compared.
    earlier,
    /// A row that the slot still brings.
    awaited,
};

struct record {
    record_kind kind = record_kind::row;
    /// Of a row: its place in the reading. Of a message: its sequence number.
    std::uint64_t number = 0;
    /// Of a row: its table. Of a message: its history.
    std::uint32_t group = 0;
    /// Of a message.
    commit_position at = {};
    /// Any bytes.
    std::string_view id = {};
};

void append_to(std::string& bytes, const record& one);

/// Takes the first record off `bytes`; its id points into them. Nothing if they are damaged.
[[nodiscard]] std::optional<record> take_record(std::string_view& bytes);

}  // namespace walrelay::audit
