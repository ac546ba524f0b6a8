#include "support/secret_file.hpp"

#include <fstream>
#include <stdexcept>

namespace walrelay::test {

void write_secret(const std::filesystem::path& file, std::string_view content) {
    std::ofstream stream(file, std::ios::trunc);
    std::filesystem::permissions(
        file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    stream << content;
    if (!stream.flush()) {
        throw std::runtime_error("cannot write " + file.string());
    }
}

}  // namespace walrelay::test
