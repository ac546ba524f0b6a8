// What one replication connection says: its frames, decoded and in their order.
#pragma once

#include "wal/decoder.hpp"
#include "wal/frame_order.hpp"
#include "wal/replication_frame.hpp"

#include <memory>

namespace walrelay::wal {

/// One for each connection, as the decoder in it.
class change_reader {
public:
    explicit change_reader(output_plugin plugin) : decoder_(make_decoder(plugin)) {}

    /// To be set up before the first frame.
    [[nodiscard]] decoder& by() { return *decoder_; }
    /// As decoder::decode; also frame_malformed for a frame that cannot stand where it says. Errors
    /// name that place.
    [[nodiscard]] result<change> read(const xlog_data& data);
    void read(const keepalive& said) { order_.alive(said.end); }

private:
    std::unique_ptr<decoder> decoder_;
    frame_order order_;
};

}  // namespace walrelay::wal
