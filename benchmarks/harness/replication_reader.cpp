#include "harness/replication_reader.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <stdexcept>

namespace walrelay::bench {
namespace {

constexpr int bits_in_byte = 8;
constexpr int bytes_in_number = 8;

[[noreturn]] void fail(pg_conn* connection, const std::string& what) {
    throw std::runtime_error(what + ": " + PQerrorMessage(connection));
}

std::uint64_t number_at(std::string_view bytes, std::size_t offset) {
    std::uint64_t number = 0;
    for (std::size_t index = offset; index < offset + bytes_in_number; ++index) {
        number = (number << bits_in_byte) | static_cast<unsigned char>(bytes[index]);
    }
    return number;
}

void append_number(std::string& bytes, std::uint64_t number) {
    for (int shift = bits_in_byte * (bytes_in_number - 1); shift >= 0; shift -= bits_in_byte) {
        bytes += static_cast<char>((number >> static_cast<unsigned>(shift)) & 0xffU);
    }
}

}  // namespace

void replication_reader::closer::operator()(pg_conn* connection) const {
    PQfinish(connection);
}

replication_reader::replication_reader(
    const std::string& conninfo, const std::string& slot,
    const std::vector<std::pair<std::string, std::string>>& plugin_options)
    : connection_(PQconnectdb((conninfo + " replication=database").c_str())),
      reported_(std::chrono::steady_clock::now()) {
    std::string list;
    for (const auto& [name, value] : plugin_options) {
        list += fmt::format("{}\"{}\" '{}'", list.empty() ? "" : ", ", name, value);
    }
    const auto command = fmt::format("START_REPLICATION SLOT \"{}\" LOGICAL 0/0 ({})", slot, list);
    PGresult* const answer = PQexec(connection_.get(), command.c_str());
    const auto status = PQresultStatus(answer);
    PQclear(answer);
    if (status != PGRES_COPY_BOTH) {
        fail(connection_.get(), "the slot cannot be read");
    }
}

int replication_reader::socket() const {
    return PQsocket(connection_.get());
}

void replication_reader::read(const std::function<void(std::string_view)>& take) {
    if (PQconsumeInput(connection_.get()) != 1) {
        fail(connection_.get(), "the stream broke");
    }
    char* buffer = nullptr;
    int length = 0;
    while ((length = PQgetCopyData(connection_.get(), &buffer, 1)) > 0) {
        const std::unique_ptr<char, decltype(&PQfreemem)> owned(buffer, PQfreemem);
        take_frame({buffer, static_cast<std::size_t>(length)}, take);
    }
    if (length < 0) {
        fail(connection_.get(), "the stream ended");
    }
    constexpr std::chrono::seconds report_interval{5};
    if (std::chrono::steady_clock::now() - reported_ > report_interval) {
        report_position();
    }
}

void replication_reader::take_frame(std::string_view frame,
                                    const std::function<void(std::string_view)>& take) {
    // PostgreSQL documentation, "Streaming Replication Protocol": XLogData is 'w', start of the
    // data, end of the WAL, time; a keepalive is 'k', end of the WAL, time, whether to answer.
    constexpr std::size_t data_offset = 25;
    constexpr std::size_t answer_offset = 17;
    if (frame.front() == 'w') {
        position_ = std::max(position_, number_at(frame, 1));
        take(frame.substr(data_offset));
    } else if (frame.front() == 'k' && frame[answer_offset] != 0) {
        report_position();
    }
}

void replication_reader::report_position() {
    std::string status = "r";
    for (int kind = 0; kind < 3; ++kind) {
        append_number(status, position_);
    }
    append_number(status, 0);
    status += '\0';
    if (PQputCopyData(connection_.get(), status.data(), static_cast<int>(status.size())) != 1 ||
        PQflush(connection_.get()) != 0) {
        fail(connection_.get(), "a status update cannot be sent");
    }
    reported_ = std::chrono::steady_clock::now();
}

}  // namespace walrelay::bench
