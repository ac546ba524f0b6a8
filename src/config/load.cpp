// File, environment and flags become settings.
#include "config/load.hpp"

#include "config/draft.hpp"
#include "config/rules.hpp"
#include "config/take_file.hpp"
#include "config/take_texts.hpp"

namespace walrelay::config {

boost::system::result<settings, std::vector<problem>> load(const sources& from) {
    draft building(from.file_text ? from.file_name : "");
    const bool file_was_read = !from.file_text || take_file(*from.file_text, building);
    take_environment(from.variables, building);
    take_flags(from.flags, building);
    // What is missing may stand in the part of the file that could not be read.
    if (file_was_read) {
        check_rules(building);
    }
    if (!building.problems().empty()) {
        return std::move(building.problems());
    }
    return building.all();
}

}  // namespace walrelay::config
