// A run as people and as programs read it: tables, and a file that can be read again and put
// together with those of other runs.
#pragma once

#include "harness/machine.hpp"
#include "harness/results.hpp"
#include "harness/tables.hpp"

#include <filesystem>
#include <string>

namespace walrelay::bench {

struct report {
    facts about;
    results found;
};

/// What was measured where, and every table.
[[nodiscard]] std::string text_of(const report& from, table_form form);

/// As JSON. Throws std::runtime_error; a file that was there is lost only once the new one is
/// whole.
void save(const report& what, const std::filesystem::path& file);

/// Where a run was made with something else than those before, both are named.
void add_facts(report& into, const facts& about);
/// Adds the facts and the figures of a run that `save` has written. Throws std::runtime_error.
void add_file(report& into, const std::filesystem::path& file);

}  // namespace walrelay::bench
