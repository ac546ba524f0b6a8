// A folder that goes away with its owner, also when the test that owns it crashes or is killed.
#pragma once

#include <filesystem>
#include <string_view>

namespace walrelay::test {

/// Everybody may read and enter it, so that a server that runs as another user can live inside.
/// Its path is short enough for Unix sockets. Throws std::system_error.
class temporary_folder {
public:
    /// `label` becomes part of the name, for people who look into /tmp.
    explicit temporary_folder(std::string_view label);
    temporary_folder(temporary_folder&& other) noexcept;
    temporary_folder& operator=(temporary_folder&&) = delete;
    ~temporary_folder();

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    /// Held open: a process apart removes the folder once this end is closed by whatever means.
    int lifeline_ = -1;
};

}  // namespace walrelay::test
