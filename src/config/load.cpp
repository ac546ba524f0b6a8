// File, environment and flags become settings.
#include "config/load.hpp"

#include "config/document.hpp"
#include "config/draft.hpp"
#include "config/rules.hpp"
#include "config/unknown.hpp"
#include "config/url_list.hpp"

namespace walrelay::config {
namespace {

/// Whether keys stand below the name, as `tls.ca` below `tls`.
bool is_group(std::string_view section, const std::string& name) {
    return std::any_of(keys().begin(), keys().end(), [&](const key& row) {
        return row.section == section && row.name.starts_with(name + '.');
    });
}

/// A value of the file: of a key, or of a group of them.
void take_member(std::string_view section, const std::string& name, const value& held,
                 std::size_t entry, draft& to) {
    const std::string full_name = std::string(section) + '.' + name;
    if (const key* row = find_key(full_name)) {
        to.take(*row, held, entry);
    } else if (!is_group(section, name)) {
        to.add(unknown_key(section, name, held.where));
    } else if (const auto* group = std::get_if<value_table>(&held.data)) {
        for (const member& each : *group) {
            take_member(section, name + '.' + each.name, each.held, entry, to);
        }
    } else {
        const complaint wrong =
            expected("a table", held, "write its keys, such as " + name + ".ca = \"...\"");
        to.add({held.where, full_name, wrong.what, wrong.remedy});
    }
}

void take_section(const member& section, draft& to) {
    const auto* members = std::get_if<value_table>(&section.held.data);
    if (members == nullptr) {
        const complaint wrong = expected("a section", section.held,
                                         "write " + heading_of(section.name) + " above its keys");
        to.add({section.held.where, section.name, wrong.what, wrong.remedy});
        return;
    }
    for (const member& each : *members) {
        take_member(section.name, each.name, each.held, 0, to);
    }
}

void take_entries(const member& section, draft& to) {
    const auto* entries = std::get_if<value_list>(&section.held.data);
    const auto is_table = [](const value& each) {
        return std::holds_alternative<value_table>(each.data);
    };
    if (entries == nullptr || !std::all_of(entries->begin(), entries->end(), is_table)) {
        to.add_spoilt({section.held.where, section.name, "expected a list of tables",
                       "write [[outbox]] above the keys of each table"});
        return;
    }
    for (const value& each : *entries) {
        const std::size_t entry = to.add_entry(each.where);
        for (const member& of : std::get<value_table>(each.data)) {
            take_member(section.name, of.name, of.held, entry, to);
        }
    }
}

/// False for a syntax error: nothing is known of the file then.
bool take_file(std::string_view text, draft& to) {
    const auto document = parse_document(text, to.file_name());
    if (!document) {
        to.add(document.error());
        return false;
    }
    for (const member& section : *document) {
        if (std::find(section_names.begin(), section_names.end(), section.name) ==
            section_names.end()) {
            const bool is_table = std::holds_alternative<value_table>(section.held.data);
            to.add(unknown_at_top(section.name, is_table, section.held.where));
        } else if (section.name == "outbox") {
            take_entries(section, to);
        } else {
            take_section(section, to);
        }
    }
    return true;
}

/// The text of a variable or a flag.
void take_text(const key& row, const std::string& text, const std::string& where, draft& to) {
    value found{where, plain_text{text}};
    if (row.takes.name == value_kind::table) {
        auto table = parse_inline_table(text, where);
        if (!table) {
            to.add({where, row.full_name(), table.error().what, table.error().remedy});
            return;
        }
        found = std::move(*table);
    }
    const std::size_t entries = to.all().outbox.size();
    if (row.section == "outbox" && entries > 1) {
        to.add(
            {where, row.full_name(),
             "is meant for a single [[outbox]] entry, but the file has " + std::to_string(entries),
             "set it in the entry of the file that it is meant for"});
        return;
    }
    if (row.section == "outbox" && entries == 0) {
        to.add_entry(where);
    }
    to.take(row, found);
}

/// Source: Kubernetes documentation, "Accessing the Service": WALRELAY_SERVICE_HOST,
/// WALRELAY_PORT_8460_TCP and the like.
bool is_set_by_kubernetes(std::string_view name) {
    return name.starts_with("WALRELAY_SERVICE_") || name == "WALRELAY_PORT" ||
           name.starts_with("WALRELAY_PORT_");
}

void take_environment(const environment& variables, draft& to) {
    for (const auto& [name, text] : variables) {
        const auto row =
            std::find_if(keys().begin(), keys().end(),
                         [&name = name](const key& each) { return each.variable() == name; });
        if (row != keys().end()) {
            take_text(*row, text, name, to);
        } else if (!is_set_by_kubernetes(name)) {
            to.add(unknown_variable(name));
        }
    }
}

void take_flags(const flag_values& flags, draft& to) {
    for (const auto& [full_name, text] : flags) {
        const key* row = find_key(full_name);
        if (row == nullptr) {
            to.add(
                {"flag " + printable(full_name), "", "is not the name of a setting", "remove it"});
        } else {
            take_text(*row, text, row->flag.empty() ? "flag " + full_name : std::string(row->flag),
                      to);
        }
    }
}

constexpr const char* servers_key = "nats.urls";

/// What a source outside of walrelay's own says, where those say nothing.
void take_if_unset(const char* name, value found, draft& to) {
    if (!to.is_set(name) && !to.is_spoilt(name)) {
        to.take(*find_key(name), found);
    }
}

/// Addresses as other programs of NATS write them.
void take_servers(const std::string& text, const std::string& where, draft& to) {
    value_list items;
    for (auto& each : split_urls_of_nats(text)) {
        items.push_back({where, std::move(each)});
    }
    if (!items.empty()) {
        take_if_unset(servers_key, {where, std::move(items)}, to);
    }
}

bool is_any_set(const draft& of, std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return of.is_set(name) || of.is_spoilt(name); });
}

/// Some keys go together: where one of them is set, a context says nothing of the others.
void take_context(const nats_context& context, const std::string& path, draft& to) {
    const bool signs_in =
        !is_any_set(to, {"nats.credentials", "nats.nkey_seed", "nats.user", "nats.token_file"});
    const bool chooses = !is_any_set(to, {"nats.domain", "nats.api_prefix"});
    const bool shows = !is_any_set(to, {"nats.tls.cert", "nats.tls.key"});
    for (const auto& [key, text] : context.values) {
        const bool is_taken = key == "user" || key == "credentials" || key == "nkey_seed" ? signs_in
                              : key == "domain" || key == "api_prefix"                    ? chooses
                              : key == "tls.cert" || key == "tls.key"                     ? shows
                                                                                          : true;
        if (is_taken) {
            take_if_unset(("nats." + key).c_str(), {path, text}, to);
        }
    }
    if (signs_in) {
        to.take_secrets(context.password, context.token);
    }
    if (context.tls_first) {
        take_if_unset("nats.tls.handshake_first", {path, true}, to);
    }
    take_servers(context.url, path, to);
}

void take_named_context(const context_reader& read, draft& to) {
    const std::string key = "nats.context";
    const auto& name = to.all().nats.context;
    if (name.empty() || !read) {
        return;
    }
    const auto file = read(name);
    const auto context = file ? parse_nats_context(*file) : file.error();
    if (context) {
        take_context(*context, file->path, to);
    } else {
        to.add({to.where(key), key, context.error().what, context.error().remedy});
    }
}

}  // namespace

boost::system::result<settings, std::vector<problem>> load(const sources& from) {
    draft building(from.file_text ? from.file_name : "");
    const bool file_was_read = !from.file_text || take_file(*from.file_text, building);
    take_environment(from.variables, building);
    take_flags(from.flags, building);
    take_named_context(from.read_context, building);
    take_servers(from.nats_url.value_or(""), "NATS_URL", building);
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
