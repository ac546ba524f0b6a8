// Settings while they are put together: what is known so far, where each value came from, and what
// was wrong on the way.
#pragma once

#include "config/keys.hpp"
#include "config/problem.hpp"
#include "config/settings.hpp"
#include "config/value.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walrelay::config {

class draft {
public:
    /// `file_name` stands in problems that no single line causes; empty if there is no file.
    explicit draft(std::string file_name) : file_name_(std::move(file_name)) {}

    /// Stores a value, or notes the problems. `entry` is an index of [[outbox]]; of no meaning for
    /// the keys of other sections.
    void take(const key& row, const value& found, std::size_t entry = 0);
    /// Of a context of the nats command: no key holds a secret itself.
    void take_secrets(std::string password, std::string token);
    /// Begins the next entry of [[outbox]]; returns its index.
    std::size_t add_entry(const std::string& where);
    void add(problem found) { problems_.push_back(std::move(found)); }
    /// Notes a problem of a name that is no key of its own, and that its value could not be used.
    void add_spoilt(problem found);

    /// Whether a source gave the key a value that could be used.
    [[nodiscard]] bool is_set(std::string_view full_name, std::size_t entry = 0) const;
    /// Whether a source gave the key a value that could not be used: what follows from it is not
    /// worth telling.
    [[nodiscard]] bool is_spoilt(std::string_view full_name, std::size_t entry = 0) const;
    /// Where the value in force came from; the file where nothing set it.
    [[nodiscard]] std::string where(std::string_view full_name, std::size_t entry = 0) const;
    [[nodiscard]] const std::string& where_of_entry(std::size_t entry) const;

    [[nodiscard]] const settings& all() const { return all_; }
    [[nodiscard]] const std::string& file_name() const { return file_name_; }
    [[nodiscard]] std::vector<problem>& problems() { return problems_; }

private:
    struct origin {
        std::string where;
        bool spoilt = false;
    };

    [[nodiscard]] const origin* origin_of(std::string_view full_name, std::size_t entry) const;

    std::string file_name_;
    settings all_;
    std::vector<std::string> entries_;
    std::map<std::pair<std::string, std::size_t>, origin> origins_;
    std::vector<problem> problems_;
};

}  // namespace walrelay::config
