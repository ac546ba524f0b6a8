#include "core/error.hpp"

#include <stdexcept>

namespace walrelay {
namespace {

class category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "walrelay"; }
    [[nodiscard]] std::string message(int value) const override;
};

std::string category::message(int value) const {
    switch (static_cast<errc>(value)) {
        case errc::frame_truncated:
            return "a replication frame ends too early";
        case errc::frame_malformed:
            return "a replication frame holds a value that the protocol does not allow";
        case errc::frame_unexpected:
            return "the server sent a replication frame that was not asked for";
        case errc::table_unknown:
            return "a row came from a table that this connection does not know";
        case errc::row_unmappable:
            return "a row cannot be made into a message";
        case errc::message_too_large:
            return "a message is larger than the broker takes";
        case errc::configuration_invalid:
            return "the configuration cannot be used";
        case errc::temporary_file:
            return "a temporary file cannot be used";
        case errc::file_unusable:
            return "a file of the configuration cannot be used";
        case errc::postgres_unavailable:
            return "PostgreSQL cannot be reached";
        case errc::postgres_refused:
            return "PostgreSQL does not let the role in";
        case errc::postgres_lost:
            return "the connection to PostgreSQL ended";
        case errc::postgres_unsuitable:
            return "PostgreSQL is not set up for walrelay";
        case errc::tail_not_met:
            return "the stream and the database do not have the same history";
        case errc::slot_in_use:
            return "another consumer holds the replication slot";
        case errc::slot_not_released:
            return "the replication slot is not released yet";
        case errc::broker_unavailable:
            return "the broker cannot be reached";
        case errc::broker_lost:
            return "the connection to the broker ended";
        case errc::broker_unsuitable:
            return "the broker is not set up for walrelay";
        case errc::message_refused:
            return "the broker refused a message";
        case errc::gap_found:
            return "rows are in neither the slot nor the stream";
        case errc::halted:
            return "the slot is halted until an operator resumes it";
        case errc::position_not_kept:
            return "the position is not kept";
    }
    return "unknown error";
}

}  // namespace

const std::error_category& walrelay_category() noexcept {
    static const category instance;
    return instance;
}

std::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), walrelay_category()};
}

advice advice_for(errc code) noexcept {
    switch (code) {
        case errc::postgres_unavailable:
        case errc::broker_unavailable:
        case errc::slot_in_use:
        case errc::slot_not_released:
            return advice::retry;
        case errc::table_unknown:
        case errc::postgres_lost:
        case errc::broker_lost:
            return advice::reconnect;
        case errc::row_unmappable:
        case errc::message_too_large:
        case errc::message_refused:
            return advice::this_message;
        case errc::frame_truncated:
        case errc::frame_malformed:
        case errc::frame_unexpected:
        case errc::configuration_invalid:
        case errc::temporary_file:
        case errc::file_unusable:
        case errc::postgres_refused:
        case errc::postgres_unsuitable:
        case errc::tail_not_met:
        case errc::broker_unsuitable:
        case errc::gap_found:
        case errc::halted:
        case errc::position_not_kept:
            return advice::this_configuration;
    }
    return advice::this_configuration;
}

std::string_view to_string(errc code) noexcept {
    switch (code) {
        case errc::frame_truncated:
            return "frame_truncated";
        case errc::frame_malformed:
            return "frame_malformed";
        case errc::frame_unexpected:
            return "frame_unexpected";
        case errc::table_unknown:
            return "table_unknown";
        case errc::row_unmappable:
            return "row_unmappable";
        case errc::message_too_large:
            return "message_too_large";
        case errc::configuration_invalid:
            return "configuration_invalid";
        case errc::temporary_file:
            return "temporary_file";
        case errc::file_unusable:
            return "file_unusable";
        case errc::postgres_unavailable:
            return "postgres_unavailable";
        case errc::postgres_refused:
            return "postgres_refused";
        case errc::postgres_lost:
            return "postgres_lost";
        case errc::postgres_unsuitable:
            return "postgres_unsuitable";
        case errc::tail_not_met:
            return "tail_not_met";
        case errc::slot_in_use:
            return "slot_in_use";
        case errc::slot_not_released:
            return "slot_not_released";
        case errc::broker_unavailable:
            return "broker_unavailable";
        case errc::broker_lost:
            return "broker_lost";
        case errc::broker_unsuitable:
            return "broker_unsuitable";
        case errc::message_refused:
            return "message_refused";
        case errc::gap_found:
            return "gap_found";
        case errc::halted:
            return "halted";
        case errc::position_not_kept:
            return "position_not_kept";
    }
    return "unknown";
}

std::string to_string(const error& failure) {
    std::string line = failure.what;
    if (!failure.server_said.empty()) {
        line += " (server: " + failure.server_said + ")";
    }
    if (!failure.remedy.empty()) {
        line += "; fix: " + failure.remedy;
    }
    return line;
}

void throw_exception_from_error(const error& failure, const boost::source_location& /*where*/) {
    throw std::runtime_error(to_string(failure));
}

}  // namespace walrelay
