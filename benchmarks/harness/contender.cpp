#include "harness/contender.hpp"

#include "harness/results.hpp"

#include <stdexcept>

namespace walrelay::bench {
namespace {

class running_relay : public running_contender {
public:
    explicit running_relay(const test::relay_start& how) : relay_(how) {
        if (!relay_.wait_for_log("streaming from slot", std::chrono::seconds(30))) {
            throw std::runtime_error("walrelay does not stream:\n" + relay_.log());
        }
    }

    [[nodiscard]] std::optional<pid_t> pid() const override { return relay_.process().pid(); }
    [[nodiscard]] std::string log() const override { return relay_.log(); }

    void stop() override {
        if (relay_.stop(std::chrono::seconds(30)) != 0) {
            throw std::runtime_error("walrelay did not stop in order:\n" + relay_.log());
        }
    }

private:
    mutable test::relay_process relay_;
};

}  // namespace

contender relay_contender(const std::string& plugin) {
    return {.name = relay_name(plugin), .plugin = plugin, .start = [plugin](bed& on) {
                return std::make_unique<running_relay>(on.how("run", plugin));
            }};
}

}  // namespace walrelay::bench
