// Messages of pg_logical_emit_message, through a real stream and the decoder of each plugin.
#include "postgres_fixture.hpp"
#include "wal/decoder.hpp"
#include "wal/replication_frame.hpp"

namespace walrelay::test {
namespace {

class LogicalMessage : public postgres_fixture, public testing::WithParamInterface<output_plugin> {
protected:
    /// Decodes until a message of this prefix has come; gives the contents of all on the way.
    std::vector<std::string> messages_up_to(postgres::replication_stream& from,
                                            const std::string& prefix) {
        std::vector<std::string> seen;
        for (;;) {
            const auto bytes = frame_with(from, "");
            const auto frame = wal::parse_frame(bytes);
            const auto* const data = std::get_if<wal::xlog_data>(&*frame);
            if (data == nullptr) {
                continue;
            }
            const auto decoded = decoder_->decode(data->payload);
            if (!decoded) {
                throw std::runtime_error(to_string(decoded.error()));
            }
            if (const auto* const said = std::get_if<logical_message>(&*decoded)) {
                seen.push_back(std::string{said->prefix} + ": " + std::string{said->content});
                if (said->prefix == prefix) {
                    return seen;
                }
            }
        }
    }

    std::unique_ptr<wal::decoder> decoder_ = wal::make_decoder(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Plugins, LogicalMessage,
                         testing::Values(output_plugin::wal2json, output_plugin::pgoutput),
                         [](const auto& each) { return std::string{to_string(each.param)}; });

TEST_P(LogicalMessage, ArrivesWhereItIsOfATransaction) {
    auto from = make_slot(GetParam());
    from.message_prefixes = {"walrelay", "walrelay.retry"};
    writer_->execute("SELECT pg_logical_emit_message(false, 'walrelay', 'of no transaction')");
    writer_->execute(
        "BEGIN; SELECT pg_logical_emit_message(true, 'walrelay', 'first');"
        "INSERT INTO events VALUES (1, 'between');"
        "SELECT pg_logical_emit_message(true, 'walrelay.retry', 'Grüße \"\\ '); COMMIT");
    auto streaming = stream(from);
    const std::vector<std::string> expected = {"walrelay: first", "walrelay.retry: Grüße \"\\ "};
    EXPECT_EQ(messages_up_to(streaming, "walrelay.retry"), expected);
}

TEST_P(LogicalMessage, OfSomebodyElseDoesNotStopTheStream) {
    auto from = make_slot(GetParam());
    from.message_prefixes = {"walrelay", "walrelay.retry"};
    // Bytes that are no text: pgoutput sends them, wal2json is asked to leave them out.
    writer_->execute("SELECT pg_logical_emit_message(true, 'stranger', '\\xff00'::bytea)");
    writer_->execute("SELECT pg_logical_emit_message(true, 'walrelay', 'ours')");
    auto streaming = stream(from);
    EXPECT_EQ(messages_up_to(streaming, "walrelay").back(), "walrelay: ours");
}

}  // namespace
}  // namespace walrelay::test
