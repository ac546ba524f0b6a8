// A relay's side of the broker, with the model in place of nats/.
#pragma once

#include "sim/relay_life.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace walrelay::sim {

class relay_broker final : public relay::broker_side {
public:
    explicit relay_broker(relay_life& life) : life_(life), around_(life.around()) {}

    /// Of the server whose rows are published from now on.
    void joined(const lineage& line) { joined_ = line; }

    void connect(const relay::connect_broker& wanted, const relay::known_of_stream& known) override;
    void close() override;
    [[nodiscard]] result<void> publish(const relay::outgoing& what) override;
    [[nodiscard]] bool is_full() override;
    void flush() override {}
    void ask_stream() override;
    void read_message(const relay::read_message& wanted) override;
    void mark_stream(relay::mark_stream wanted, const std::string& description) override;
    void read_stored(relay::read_stored wanted) override;

private:
    [[nodiscard]] broker_events events(std::uint64_t epoch);
    void answered(std::uint64_t epoch, const result<broker_session>& answer,
                  relay::relay_driver& driver);
    void reply_came(std::uint64_t epoch, std::uint64_t index, const std::string& body);
    [[nodiscard]] std::shared_ptr<const relay::stored_rows> stored_in(
        const relay::stored_rows_request& wanted);

    relay_life& life_;
    const relay_surroundings& around_;
    connection_handle connection_;
    std::optional<lineage> joined_;
    /// For a canary: the sequence that each publish was to get.
    std::map<std::uint64_t, std::uint64_t> predicted_;
    sim_time full_until_{0};
};

}  // namespace walrelay::sim
