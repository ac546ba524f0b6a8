#include "wal/change_reader.hpp"

namespace walrelay::wal {
namespace {

error standing_at(lsn start, error failure) {
    failure.what = "at LSN " + to_string(start) + ": " + failure.what;
    return failure;
}

}  // namespace

result<change> change_reader::read(const xlog_data& data) {
    auto decoded = decoder_->decode(data.payload);
    if (!decoded) {
        return standing_at(data.start, decoded.error());
    }
    if (auto in_place = order_.take(data.start, *decoded); !in_place) {
        return standing_at(data.start, in_place.error());
    }
    return decoded;
}

}  // namespace walrelay::wal
