#include "nats/session/inbox.hpp"

#include <algorithm>
#include <random>
#include <string_view>

namespace walrelay::nats {

std::string new_secret_word(std::size_t length) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    std::random_device source;
    std::uniform_int_distribution<std::size_t> letter(0, letters.size() - 1);
    std::string word(length, ' ');
    std::generate(word.begin(), word.end(), [&] { return letters[letter(source)]; });
    return word;
}

std::string new_inbox(const std::string& prefix) {
    return prefix + "." + new_secret_word() + ".";
}

std::string new_reply_inbox(const std::string& prefix) {
    constexpr std::size_t letters = 10;
    return prefix + "." + new_secret_word(letters) + ".";
}

}  // namespace walrelay::nats
