#include "tasks/temporary_place.hpp"

namespace walrelay::tasks {

result<std::filesystem::path> temporary_place() {
    std::error_code failure;
    auto folder = std::filesystem::temp_directory_path(failure);
    if (failure) {
        return error{errc::temporary_file, "there is no temporary folder",
                     "set TMPDIR to a folder that walrelay's user may write to", failure.message()};
    }
    return folder;
}

}  // namespace walrelay::tasks
