#include "nats/session/connect_options.hpp"

namespace walrelay::nats {

std::string to_json(const stream_definition& definition) {
    std::string subjects;
    for (const auto& subject : definition.subjects) {
        subjects += (subjects.empty() ? "\"" : ", \"") + subject + "\"";
    }
    return "{\n  \"name\": \"" + definition.name + "\",\n  \"subjects\": [" + subjects +
           "],\n  \"retention\": \"limits\",\n  \"storage\": \"file\",\n  \"num_replicas\": " +
           std::to_string(definition.replicas) + "\n}";
}

}  // namespace walrelay::nats
