#include "audit/spill_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace walrelay::audit {
namespace {

std::string in_mebibytes(std::uint64_t bytes) {
    constexpr std::uint64_t mebibyte = 1024UL * 1024;
    return std::to_string((bytes + mebibyte - 1) / mebibyte) + " MiB";
}

error too_small(const std::filesystem::path& folder, std::uint64_t needed_bytes) {
    return {errc::temporary_file,
            "the temporary folder " + folder.string() + " has no room for the comparison: about " +
                in_mebibytes(needed_bytes) + " are needed",
            "make room there, or set TMPDIR to a folder that has it"};
}

}  // namespace

result<spill_file> spill_file::make(const std::filesystem::path& folder,
                                    std::uint64_t expected_bytes) {
    std::error_code unknown;
    const auto room = std::filesystem::space(folder, unknown);
    if (!unknown && room.available < expected_bytes) {
        return too_small(folder, expected_bytes);
    }
    auto name = (folder / "walrelay-verify-XXXXXX").string();
    const int descriptor = mkostemp(name.data(), O_CLOEXEC);
    spill_file made(descriptor, folder, expected_bytes);
    if (descriptor < 0 || unlink(name.c_str()) != 0) {
        return made.failed("made");
    }
    return made;
}

spill_file::spill_file(int descriptor, std::filesystem::path folder, std::uint64_t expected_bytes)
    : descriptor_(descriptor), folder_(std::move(folder)), expected_bytes_(expected_bytes) {}

spill_file::spill_file(spill_file&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      folder_(std::move(other.folder_)),
      expected_bytes_(other.expected_bytes_),
      size_bytes_(other.size_bytes_) {}

spill_file& spill_file::operator=(spill_file&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(folder_, other.folder_);
    std::swap(expected_bytes_, other.expected_bytes_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
}

spill_file::~spill_file() {
    if (descriptor_ >= 0) {
        close(descriptor_);
    }
}

error spill_file::failed(const char* doing) const {
    if (errno == ENOSPC || errno == EDQUOT) {
        return too_small(folder_, std::max(expected_bytes_, 2 * size_bytes_));
    }
    return {errc::temporary_file,
            "the temporary file of the comparison in " + folder_.string() + " cannot be " + doing,
            "set TMPDIR to a folder that walrelay's user may write to",
            std::generic_category().message(errno)};
}

result<extent> spill_file::append(std::string_view bytes) {
    const extent where{size_bytes_, bytes.size()};
    while (!bytes.empty()) {
        const auto written =
            pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(size_bytes_));
        if (written < 0 && errno != EINTR) {
            return failed("written");
        }
        if (written > 0) {
            bytes.remove_prefix(static_cast<std::size_t>(written));
            size_bytes_ += static_cast<std::uint64_t>(written);
        }
    }
    return where;
}

result<void> spill_file::read(extent from, std::string& into) const {
    into.resize(from.size_bytes);
    std::size_t done = 0;
    while (done < into.size()) {
        const auto got = pread(descriptor_, into.data() + done, into.size() - done,
                               static_cast<off_t>(from.offset + done));
        if (got == 0) {
            errno = EIO;
        }
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return failed("read");
        }
        done += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    return {};
}

}  // namespace walrelay::audit
