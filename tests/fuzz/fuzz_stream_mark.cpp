// Any description of a stream is read, the mark in it is printed as it was read, and a stream that
// is claimed is marked with the new owner and has nothing more to claim.
#include "fuzz/require.hpp"
#include "relay/machine/stream_owner.hpp"

#include <fuzzer/FuzzedDataProvider.h>

#include <string>

namespace {

using namespace walrelay;
using fuzz::require;
using relay::stream_owner;

constexpr std::size_t name_bytes_max = 64;

void check_printed(const stream_owner& owner) {
    const auto mark = to_string(owner);
    require(fuzz::is_printable(mark), "a mark is one line");
    require(relay::owner_in(mark) == owner, "a mark is printed as it was read");
    require(relay::own_mark(mark, owner.slot, owner.database) == owner, "it is the owner's own");
    require(!relay::description_to_claim(owner, mark), "what is marked is not claimed again");
}

void check_claimed(const stream_owner& owner, std::string_view description) {
    const auto claimed = relay::description_to_claim(owner, description);
    if (!claimed) {
        return;
    }
    require(relay::owner_in(*claimed) == owner, "what is claimed is marked with its owner");
    require(!relay::description_to_claim(owner, *claimed), "it is claimed once");
}

/// As walrelay makes them.
stream_owner make_owner(FuzzedDataProvider& input) {
    stream_owner owner{input.ConsumeRandomLengthString(name_bytes_max),
                       input.ConsumeRandomLengthString(name_bytes_max),
                       input.ConsumeIntegral<std::uint64_t>()};
    owner.timeline = input.ConsumeIntegral<std::uint32_t>();
    if (input.ConsumeBool()) {
        owner.ancestors.push_back(
            {input.ConsumeIntegralInRange(1U, 9U), lsn{input.ConsumeIntegral<std::uint64_t>()}});
    }
    if (input.ConsumeBool()) {
        owner.rules = relay::rules_of_comparison("0123456789abcdef", input.ConsumeBool(),
                                                 input.ConsumeBool());
        owner.since = lsn{input.ConsumeIntegral<std::uint64_t>()};
    }
    if (input.ConsumeBool()) {
        owner.disordered_after = input.ConsumeIntegralInRange<std::uint64_t>(1, 1U << 31U);
        owner.disordered_below = lsn{input.ConsumeIntegral<std::uint64_t>()};
        owner.disordered_until = owner.disordered_after + 1;
    }
    return owner;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzedDataProvider input(data, size);
    auto owner = make_owner(input);
    check_printed(owner);
    const auto description = input.ConsumeRemainingBytesAsString();
    check_claimed(owner, description);
    if (const auto found = relay::owner_in(description)) {
        check_printed(*found);
        owner.slot = found->slot;
        owner.database = found->database;
        check_claimed(owner, description);
    }
    return 0;
}
