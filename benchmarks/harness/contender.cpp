#include "harness/contender.hpp"

#include "harness/results.hpp"

#include <csignal>
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

class nobody : public running_contender {
public:
    [[nodiscard]] std::optional<pid_t> pid() const override { return std::nullopt; }
    [[nodiscard]] std::string log() const override { return "(no log)"; }
    void stop() override {}
};

class running_decoder : public running_contender {
public:
    explicit running_decoder(bed& on, const std::string& plugin)
        : process_(on.decode_for_ever(plugin)) {
        if (!on.wait_for_reader(std::chrono::seconds(30))) {
            throw std::runtime_error("pg_recvlogical does not read: " + log());
        }
    }

    [[nodiscard]] std::optional<pid_t> pid() const override { return process_.pid(); }
    [[nodiscard]] std::string log() const override { return process_.standard_error(); }

    void stop() override {
        process_.signal(SIGINT);
        (void)process_.wait_exit(std::chrono::seconds(30));
    }

private:
    test::child_process process_;
};

}  // namespace

contender relay_contender(const std::string& plugin) {
    return {.name = relay_name(plugin), .plugin = plugin, .start = [plugin](bed& on) {
                return std::make_unique<running_relay>(on.how("run", plugin));
            }};
}

contender no_contender() {
    return {.name = "no slot", .plugin = "pgoutput", .start = [](bed& on) {
                on.remove_slots();
                return std::make_unique<nobody>();
            }};
}

contender decoder_contender(const std::string& plugin) {
    return {.name = "pg_recvlogical " + plugin, .plugin = plugin, .start = [plugin](bed& on) {
                return std::make_unique<running_decoder>(on, plugin);
            }};
}

}  // namespace walrelay::bench
