#include "app/nats_context_file.hpp"

#include "core/joined.hpp"
#include "core/nearest.hpp"
#include "files/ordinary_file.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace walrelay::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t context_bytes_max = std::size_t{64} << 10U;

/// Of the contexts that are there, in order.
std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code unreadable;
    for (fs::directory_iterator each(folder, unreadable); each != fs::directory_iterator();
         each.increment(unreadable)) {
        if (each->path().extension() == ".json") {
            names.push_back(each->path().stem().string());
        }
    }
    std::ranges::sort(names);
    return names;
}

/// What to do where no file of that name can be read.
std::string fix_for(const std::string& name, const fs::path& folder) {
    const auto names = names_in(folder);
    if (std::ranges::find(names, name) != names.end()) {
        return "let walrelay's user read it (the systemd unit hides /home: copy it below "
               "/etc/walrelay and set XDG_CONFIG_HOME), or set the keys of [nats] themselves";
    }
    const auto make = "nats context add " + name + " --server nats://host:4222";
    if (const auto meant = nearest(name, names)) {
        return "write " + *meant + ", or make it: " + make;
    }
    const auto known = joined(names);
    return names.empty() ? make : "write one of " + known + ", or make it: " + make;
}

}  // namespace

config::read_result<config::context_file> read_nats_context(
    const std::string& name, const std::optional<std::string>& config_home,
    const std::optional<std::string>& home) {
    const bool has_config_home = config_home && !config_home->empty();
    if (!has_config_home && (!home || home->empty())) {
        return config::complaint{
            "context " + name +
                " cannot be found: neither XDG_CONFIG_HOME nor HOME is set, below which "
                "nats/context/" +
                name + ".json would stand",
            "set XDG_CONFIG_HOME to the folder that holds nats/context"};
    }
    const fs::path base = has_config_home ? fs::path(*config_home) : fs::path(*home) / ".config";
    const auto folder = base / "nats" / "context";
    const auto path = (folder / (name + ".json")).string();
    auto text = files::read_ordinary(path, context_bytes_max);
    if (!text) {
        return config::complaint{
            "context " + name + " cannot be read from " + path + ": " + text.error().why,
            fix_for(name, folder)};
    }
    return config::context_file{path, std::move(*text), home.value_or(""), files::is_public(path)};
}

}  // namespace walrelay::app
