#include "wal/decoder.hpp"

#include "wal/pgoutput/pgoutput_decoder.hpp"
#include "wal/wal2json/wal2json_decoder.hpp"

namespace walrelay::wal {

std::unique_ptr<decoder> make_decoder(output_plugin plugin) {
    if (plugin == output_plugin::pgoutput) {
        return std::make_unique<pgoutput_decoder>();
    }
    return std::make_unique<wal2json_decoder>();
}

}  // namespace walrelay::wal
