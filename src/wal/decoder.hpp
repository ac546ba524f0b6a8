// What both output plugins have in common: the payload of one XLogData frame in, one change out.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
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

    /// Of a payload that has more bytes, the change leaves values out that are longer than
    /// `kept_value_bytes`, and says so: nothing that large is ever copied or parsed.
    void limit_rows(std::uint64_t bytes) { row_max_bytes_ = bytes; }
    /// Whether the last change has no view into its payload, which can be freed before it is used.
    [[nodiscard]] virtual bool outlives_payload() const { return false; }
    /// The last change is not needed any more: gives back what a large one has taken.
    virtual void let_go() {}
    static constexpr std::size_t kept_value_bytes = std::size_t{64} * 1024;

protected:
    /// What a change says in too_large_bytes.
    [[nodiscard]] std::uint64_t excess_of(std::string_view payload) const {
        return payload.size() > row_max_bytes_ ? payload.size() : 0;
    }
    [[nodiscard]] bool wants_any_update() const { return wants_update_ != nullptr; }
    [[nodiscard]] const update_filter& wants_update() const { return wants_update_; }

private:
    update_filter wants_update_;
    std::uint64_t row_max_bytes_ = std::numeric_limits<std::uint64_t>::max();
};

[[nodiscard]] std::unique_ptr<decoder> make_decoder(output_plugin plugin);

}  // namespace walrelay::wal
