// Several servers in one text: "nats://a:4222,nats://b:4222".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace walrelay::config {

/// The addresses of a text, taken apart at its commas; blanks around them are dropped. A comma in a
/// user or a password, before an @, separates nothing.
[[nodiscard]] std::vector<std::string> split_urls(std::string_view text);

/// The same of a text that other programs of NATS read as well: an address without a scheme gets
/// nats://.
[[nodiscard]] std::vector<std::string> split_urls_of_nats(std::string_view text);

}  // namespace walrelay::config
