#include "nats/session/connect_options.hpp"

namespace walrelay::nats {

std::string to_json(const stream_definition& definition) {
    std::string subjects;
    for (const auto& subject : definition.subjects) {
        subjects += (subjects.empty() ? "\"" : ", \"") + subject + "\"";
    }
    const auto room = definition.max_bytes
                          ? ",\n  \"max_bytes\": " + std::to_string(*definition.max_bytes)
                          : std::string();
    return "{\n  \"name\": \"" + definition.name + "\",\n  \"subjects\": [" + subjects +
           "],\n  \"retention\": \"limits\",\n  \"storage\": \"file\",\n  \"num_replicas\": " +
           std::to_string(definition.replicas) + room + "\n}";
}

}  // namespace walrelay::nats
