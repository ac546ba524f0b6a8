// A temporary file that has no name: it vanishes with the process, however that ends. Knows nothing
// of what is in it.
#pragma once

#include "core/error.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace walrelay::audit {

/// Where some bytes lie in the file.
struct extent {
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
};

class spill_file {
public:
    /// `expected_bytes` is what will be needed, as far as one can know; 0 if nobody knows. Errors:
    /// temporary_file, where the folder has less room or cannot be written to.
    [[nodiscard]] static result<spill_file> make(const std::filesystem::path& folder,
                                                 std::uint64_t expected_bytes);

    spill_file(const spill_file&) = delete;
    spill_file& operator=(const spill_file&) = delete;
    spill_file(spill_file&& other) noexcept;
    spill_file& operator=(spill_file&& other) noexcept;
    ~spill_file();

    /// Errors: temporary_file, naming the folder and the room that is needed.
    [[nodiscard]] result<extent> append(std::string_view bytes);
    /// Replaces `into`. Errors: temporary_file.
    [[nodiscard]] result<void> read(extent from, std::string& into) const;

private:
    spill_file(int descriptor, std::filesystem::path folder, std::uint64_t expected_bytes);
    [[nodiscard]] error failed(const char* doing) const;

    int descriptor_;
    std::filesystem::path folder_;
    std::uint64_t expected_bytes_;
    std::uint64_t size_bytes_ = 0;
};

}  // namespace walrelay::audit
