// The files of the dashboard, as they were when the program was built.
#pragma once

#include <array>
#include <string_view>

namespace walrelay::http {

struct page_file {
    std::string_view path;
    std::string_view content_type;
    std::string_view content;
};

inline constexpr std::size_t page_file_count = 3;
[[nodiscard]] const std::array<page_file, page_file_count>& page_files();

}  // namespace walrelay::http
