#include "postgres/session/stream_warning.hpp"

#include "postgres/session/sqlstate.hpp"

namespace walrelay::postgres {

/// By the names of function and publication: the words may be in any language.
bool skips_publication(const server_report& warning, std::string_view publication) {
    return warning.function == "LoadPublications" ||
           (warning.sqlstate == sqlstate::object_not_in_prerequisite_state &&
            warning.message.find('"' + std::string(publication) + '"') != std::string::npos);
}

std::optional<error> explain_warning(const server_report& report, const server_context& context) {
    if (context.plugin != output_plugin::pgoutput ||
        !skips_publication(report, context.publication)) {
        return std::nullopt;
    }
    // As the servers say it that do not go on.
    auto refusal = report;
    refusal.sqlstate = sqlstate::undefined_object;
    auto failure = explain(refusal, context);
    failure.what += "; the slot is not confirmed past the rows that the server leaves out";
    return failure;
}

}  // namespace walrelay::postgres
