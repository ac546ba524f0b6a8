// Cuts the golden captures up into a corpus for the fuzz targets: single frames, and single
// transactions with the descriptions of tables that they need.
//
//   split_captures CAPTURES-FOLDER CORPUS-FOLDER
#include "unit/wal/capture_file.hpp"
#include "wal/replication_frame.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace {

using walrelay::testing::read_file;
using walrelay::testing::split_capture;

constexpr std::size_t most_bytes = 8192;

void write_seed(const std::filesystem::path& folder, const std::string& name,
                const std::string& bytes) {
    std::filesystem::create_directories(folder);
    std::ofstream{folder / name, std::ios::binary} << bytes;
}

void append_payload(std::string& seed, std::string_view payload) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
        seed += static_cast<char>(payload.size() >> shift);
    }
    seed += payload;
}

bool is_commit(std::string_view payload) {
    return payload.starts_with('C') || payload.starts_with(R"({"action":"C")");
}

void split(const std::filesystem::path& capture, const std::filesystem::path& corpus) {
    const auto name = capture.stem().string();
    const auto* const target = name.starts_with("pgoutput") ? "fuzz_pgoutput" : "fuzz_wal2json";
    std::string descriptions;
    std::string transaction;
    std::size_t count = 0;
    for (const auto& message : split_capture(read_file(capture))) {
        ++count;
        if (message.size() <= most_bytes) {
            write_seed(corpus / "fuzz_replication_frame", name + std::to_string(count), message);
        }
        const auto frame = walrelay::wal::parse_frame(message);
        const auto* const data = std::get_if<walrelay::wal::xlog_data>(&frame.value());
        if (data == nullptr || data->payload.size() > most_bytes) {
            continue;
        }
        append_payload(data->payload.starts_with('R') ? descriptions : transaction, data->payload);
        if (is_commit(data->payload)) {
            write_seed(corpus / target, name + std::to_string(count), descriptions + transaction);
            transaction.clear();
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: split_captures CAPTURES-FOLDER CORPUS-FOLDER\n";
        return 2;
    }
    for (const auto& entry : std::filesystem::directory_iterator{argv[1]}) {
        if (entry.path().extension() == ".frames") {
            split(entry.path(), argv[2]);
        }
    }
    return 0;
}
