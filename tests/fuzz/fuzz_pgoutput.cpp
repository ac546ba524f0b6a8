// Any sequence of payloads is survived by the pgoutput decoder.
#include "fuzz/fuzz_decoder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return walrelay::fuzz::run({reinterpret_cast<const char*>(data), size},
                               walrelay::output_plugin::pgoutput);
}
