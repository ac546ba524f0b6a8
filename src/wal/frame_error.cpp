#include "wal/frame_error.hpp"

#include <string>

namespace walrelay::wal {
namespace {

constexpr std::string_view read_again =
    "restart walrelay, which reads the same WAL again (the slot keeps it); if the error comes "
    "back, report it with the versions of the server and of its output plugin";

}  // namespace

error frame_error(errc code, const place& where, std::string_view why, std::string_view remedy) {
    std::string what{where.subject};
    what += ": '";
    what += where.field;
    what += "' at byte ";
    what += std::to_string(where.offset_bytes);
    what += ' ';
    what += why;
    return {code, std::move(what), std::string{remedy.empty() ? read_again : remedy}};
}

}  // namespace walrelay::wal
