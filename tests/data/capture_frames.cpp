// Records what a logical replication slot sends, byte for byte, for the golden captures. Not part
// of any test run: make_captures.sh calls it.
//
// Each CopyData message is written as it stands on the wire: 'd', Int32 length (itself included),
// bytes. It ends once the server has sent everything up to a given LSN.
//
//   capture_frames CONNINFO START_REPLICATION-COMMAND LSN FILE
#include "core/lsn.hpp"
#include "wal/replication_frame.hpp"

#include <libpq-fe.h>

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

namespace {

using connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using outcome = std::unique_ptr<PGresult, decltype(&PQclear)>;

void append_frame(std::ostream& file, std::string_view bytes) {
    const auto length = static_cast<std::uint32_t>(bytes.size() + sizeof(std::uint32_t));
    file.put('d');
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
        file.put(static_cast<char>(length >> shift));
    }
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

bool ask_for_keepalive(PGconn* server) {
    const auto now =
        std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
    auto bytes = walrelay::wal::encode({{}, {}, {}, now});
    bytes.back() = 1;
    return PQputCopyData(server, bytes.data(), static_cast<int>(bytes.size())) == 1 &&
           PQflush(server) == 0;
}

/// Whether the frame says that everything up to `until` was sent.
bool reaches(std::string_view bytes, walrelay::lsn until) {
    const auto parsed = walrelay::wal::parse_frame(bytes);
    if (!parsed) {
        return false;
    }
    const auto* const alive = std::get_if<walrelay::wal::keepalive>(&*parsed);
    return alive != nullptr && alive->end >= until;
}

bool wait_for_bytes(PGconn* server) {
    constexpr int patience_ms = 200;
    pollfd socket{PQsocket(server), POLLIN, 0};
    if (poll(&socket, 1, patience_ms) == 0 && !ask_for_keepalive(server)) {
        return false;
    }
    return PQconsumeInput(server) == 1;
}

bool capture(PGconn* server, walrelay::lsn until, std::ostream& file) {
    for (;;) {
        char* buffer = nullptr;
        const int size = PQgetCopyData(server, &buffer, 1);
        const std::unique_ptr<char, decltype(&PQfreemem)> owner{buffer, &PQfreemem};
        if (size < 0 || (size == 0 && !wait_for_bytes(server))) {
            return false;
        }
        if (size > 0) {
            const std::string_view bytes{buffer, static_cast<std::size_t>(size)};
            append_frame(file, bytes);
            if (reaches(bytes, until)) {
                return true;
            }
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::cerr << "usage: capture_frames CONNINFO COMMAND LSN FILE\n";
        return 2;
    }
    const auto until = walrelay::parse_lsn(argv[3]);
    const connection server{PQconnectdb(argv[1]), &PQfinish};
    const outcome started{PQexec(server.get(), argv[2]), &PQclear};
    if (!until || PQresultStatus(started.get()) != PGRES_COPY_BOTH) {
        std::cerr << "capture_frames: " << PQerrorMessage(server.get());
        return 1;
    }
    std::ofstream file{argv[4], std::ios::binary};
    if (!capture(server.get(), *until, file) || !file.flush()) {
        std::cerr << "capture_frames: " << PQerrorMessage(server.get());
        return 1;
    }
    return 0;
}
