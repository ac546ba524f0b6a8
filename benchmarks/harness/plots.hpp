// Figures as pictures: bars of the medians, with lines from the least to the most.
#pragma once

#include "harness/results.hpp"

#include <filesystem>

namespace walrelay::bench {

/// Writes an SVG for every chart that there are figures for, and the data and the script of gnuplot
/// that it was made with. Throws std::runtime_error.
void draw(const results& from, const std::filesystem::path& folder);

}  // namespace walrelay::bench
