// See guide.hpp.
#include "systems/guide.hpp"

#include <fstream>
#include <optional>
#include <stdexcept>

namespace walrelay::test {
namespace {

constexpr std::string_view fence = "```";

bool is_numbered(const std::string& heading) {
    return heading.size() > 3 && heading[3] >= '1' && heading[3] <= '9';
}

}  // namespace

std::string guide_block::text() const {
    std::string all;
    for (const auto& line : lines) {
        all += line + "\n";
    }
    return all;
}

std::vector<guide_step> read_guide(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in) {
        throw std::runtime_error("cannot read " + file.string());
    }
    std::vector<guide_step> steps;
    std::optional<guide_block> open;
    std::size_t indentation = 0;
    bool in_step = false;
    bool is_back = false;
    for (std::string line; std::getline(in, line);) {
        const auto start = line.find_first_not_of(' ');
        const bool is_fence = start != std::string::npos && line.substr(start).starts_with(fence);
        if (open && !is_fence) {
            open->lines.push_back(line.substr(std::min(indentation, line.size())));
        } else if (open) {
            (is_back ? steps.back().back : steps.back().forth).push_back(std::move(*open));
            open.reset();
        } else if (is_fence && in_step) {
            indentation = start;
            open.emplace().language = line.substr(start + fence.size());
        } else if (line.starts_with("## ")) {
            in_step = is_numbered(line);
            is_back = false;
            if (in_step) {
                steps.emplace_back();
            }
        } else if (line.starts_with("*Back:*")) {
            is_back = true;
        }
    }
    return steps;
}

}  // namespace walrelay::test
