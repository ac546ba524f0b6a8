// Debian's Prometheus, on a free port, for relays of a test.
#pragma once

#include "support/child_process.hpp"
#include "support/eventually.hpp"
#include "support/free_port.hpp"
#include "support/http_client.hpp"
#include "support/temporary_folder.hpp"

#include <chrono>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

namespace walrelay::test {

/// Scrapes the targets of a file, which may be written later.
class prometheus {
public:
    /// `rules` is the text of a file of rules; empty for none.
    explicit prometheus(const std::string& rules = "") {
        std::ofstream(folder_.path() / "rules.yaml") << (rules.empty() ? "groups: []\n" : rules);
        std::ofstream(folder_.path() / "prometheus.yaml")
            << "global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: "
               "500ms}\n"
               "rule_files: [rules.yaml]\n"
               "scrape_configs:\n"
               "  - job_name: walrelay\n"
               "    file_sd_configs: [{files: [targets.json], refresh_interval: 1s}]\n";
        process_.emplace(
            command{.program = "prometheus",
                    .arguments = {"--config.file=prometheus.yaml", "--storage.tsdb.path=data",
                                  "--log.level=warn",
                                  "--web.listen-address=127.0.0.1:" + std::to_string(port_)},
                    .folder = folder_.path(),
                    .name = "prometheus"});
        if (!eventually(std::chrono::seconds(45),
                        [&] { return http_get(port_, "/-/ready").status == 200; })) {
            throw std::runtime_error("prometheus does not start: " + process_->standard_error());
        }
    }

    void scrape(std::uint16_t port) const {
        const auto next = folder_.path() / "next";
        std::ofstream(next) << R"([{"targets": ["127.0.0.1:)" << port << R"("]}])";
        std::filesystem::rename(next, folder_.path() / "targets.json");
    }

    /// The body of an answer of its API.
    [[nodiscard]] std::string query(const std::string& expression) const {
        std::string encoded;
        for (const auto each : expression) {
            constexpr const char* digits = "0123456789ABCDEF";
            const auto byte = static_cast<unsigned char>(each);
            encoded += {'%', digits[byte / 16], digits[byte % 16]};
        }
        return http_get(port_, "/api/v1/query?query=" + encoded).body;
    }
    /// The first value; nothing where there is none.
    [[nodiscard]] std::optional<double> value_of(const std::string& expression) const {
        const auto body = query(expression);
        const auto found = body.find("\"value\":[");
        if (found == std::string::npos) {
            return std::nullopt;
        }
        return std::stod(body.substr(body.find(",\"", found) + 2));
    }
    [[nodiscard]] bool is_firing(const std::string& alert, const std::string& severity = "") const {
        const auto more = severity.empty() ? "" : ",severity=\"" + severity + "\"";
        return value_of("ALERTS{alertstate=\"firing\",alertname=\"" + alert + "\"" + more + "}")
            .has_value();
    }

    [[nodiscard]] std::string log() const { return process_->standard_error(); }

private:
    temporary_folder folder_{"prometheus"};
    std::uint16_t port_ = free_port();
    std::optional<child_process> process_;
};

}  // namespace walrelay::test
