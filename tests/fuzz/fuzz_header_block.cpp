// Any row that is mapped is one publish, however its values try to end a line: the sizes are true,
// walrelay's own headers stand there once, and no value holds "Nats-".
#include "fuzz/outbox_input.hpp"
#include "fuzz/written_publish.hpp"
#include "nats/session/wire_lines.hpp"
#include "outbox/header_check.hpp"
#include "outbox/table_mapper.hpp"

#include <google/protobuf/stubs/logging.h>

#include <map>
#include <string>
#include <utility>

namespace {

using namespace walrelay;
using fuzz::require;

void check_subject(std::string_view subject) {
    require(!subject.starts_with('$'), "a subject is not the server's own");
    auto rest = std::string(subject) + ".";
    for (std::string_view left = rest; !left.empty();) {
        const auto token = fuzz::take_until(left, ".");
        require(!token.empty() && token != "*" && token != ">", "a subject has no wildcards");
        require(token.find(' ') == std::string_view::npos, "a subject has no blanks");
    }
}

void check_headers(std::string_view block, const message& sent, bool has_sequence) {
    std::size_t positions = 0;
    std::size_t ids = 0;
    for (const auto& [name, value] : fuzz::read_headers(block)) {
        positions += name == "Walrelay-Position" && value == to_string(sent.where) ? 1 : 0;
        ids += name == "Nats-Msg-Id" && value == sent.id ? 1 : 0;
        require(!value.empty(), "no header is empty");
    }
    require(positions == 1 && fuzz::count_of(block, "\r\nWalrelay-") == 1, "one position");
    require(ids == 1 && fuzz::count_of(block, "Nats-Msg-Id") == 1, "one message id");
    const std::size_t sequences = has_sequence ? 1 : 0;
    require(fuzz::count_of(block, "Nats-Expected-Last-Sequence") == sequences, "one sequence");
    require(fuzz::count_of(block, "Nats-") == 1 + sequences, "no other header of the server");
}

/// One for each configuration, as in a relay: what it keeps from row to row must not show.
outbox::table_mapper& mapper_of(const fuzz::outbox_input& given) {
    static std::map<std::uint64_t, outbox::table_mapper> known;
    const auto revision = given.row().table->revision;
    auto found = known.find(revision);
    if (found == known.end()) {
        auto made = outbox::table_mapper::make(given.table());
        require(made.has_value(), "the configuration is sound");
        found = known.emplace(revision, std::move(*made)).first;
    }
    return found->second;
}

}  // namespace

/// Protobuf has a line to say of every text that is no UTF-8.
extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) {
    google::protobuf::SetLogHandler(nullptr);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzedDataProvider input(data, size);
    const fuzz::outbox_input given(input);
    message sent;
    sent.where = {{7301, 2}, {lsn{0x1000000A0}, lsn{0x100000050}, 5}};
    if (const auto mapped = mapper_of(given).map(given.row(), sent); !mapped) {
        require(mapped.error().code == errc::row_unmappable, "one kind of error");
        return 0;
    }
    require(outbox::check_lines(sent).has_value(), "what was mapped ends no line");
    nats::publish_terms terms{"_INBOX.abc.", 17, std::nullopt};
    if (given.has_sequence()) {
        terms.expected_last_sequence = 41;
    }
    std::string lines;
    const auto counted = nats::append_publish(lines, sent, terms);
    const auto written = fuzz::read_publish(lines);
    require(counted == written.headers.size() + written.body.size(), "the size is what is counted");
    require(written.subject == sent.subject && written.body == sent.body, "nothing is changed");
    check_subject(written.subject);
    check_headers(written.headers, sent, given.has_sequence());
    return 0;
}
