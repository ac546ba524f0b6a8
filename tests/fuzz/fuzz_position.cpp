// Any text is a position, an LSN or a timeline history or is refused, and what was read is printed
// so that the same is read again.
#include "core/lineage.hpp"
#include "core/lsn.hpp"
#include "core/position.hpp"
#include "fuzz/require.hpp"

namespace {

using namespace walrelay;
using fuzz::require;

void check_position(std::string_view text) {
    if (const auto read = parse_position(text)) {
        const auto printed = to_string(*read);
        require(parse_position(printed) == read, "a position is printed as it was read");
        require(fuzz::is_printable(printed), "a position is fit for a header");
    }
}

void check_lsn(std::string_view text) {
    if (const auto read = parse_lsn(text)) {
        require(parse_lsn(to_string(*read)) == read, "an LSN is printed as it was read");
    }
}

void check_ends(const std::optional<std::vector<timeline_end>>& read) {
    if (read) {
        require(parse_timeline_ends(to_string(*read)) == read,
                "ends are printed as they were read");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::as_text(data, size);
    check_position(text);
    check_lsn(text);
    check_ends(parse_timeline_history(text));
    check_ends(parse_timeline_ends(text));
    return 0;
}
