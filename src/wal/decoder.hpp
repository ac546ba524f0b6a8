// What both output plugins have in common: the payload of one XLogData frame in, one change out.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

namespace walrelay::wal {

/// Whether updates of the table are of interest.
using update_filter = std::function<bool(std::string_view schema, std::string_view name)>;

/// Keeps what outlives a frame: descriptions of tables, whether a transaction is open. One decoder
/// serves one replication connection; a new connection starts with a new one, because the server
/// describes every table again.
class decoder {
public:
    decoder() = default;
    decoder(const decoder&) = delete;
    decoder& operator=(const decoder&) = delete;
    virtual ~decoder() = default;

    /// Decodes the payload of one XLogData frame. Views in the change are valid until the next call
    /// and as long as `payload` is. An error names the byte offset in `payload`; the decoder must
    /// not be used afterwards. Errors: frame_truncated, frame_malformed, frame_unexpected.
    [[nodiscard]] virtual result<change> decode(std::string_view payload) = 0;

    /// Updates are decoded from now on where the filter says so; without one, none are.
    void want_updates(update_filter wanted) { wants_update_ = std::move(wanted); }

protected:
    [[nodiscard]] bool wants_any_update() const { return wants_update_ != nullptr; }
    [[nodiscard]] const update_filter& wants_update() const { return wants_update_; }

private:
    update_filter wants_update_;
};

[[nodiscard]] std::unique_ptr<decoder> make_decoder(output_plugin plugin);

}  // namespace walrelay::wal
