// See document.hpp.
#include "documents/document.hpp"

#include <algorithm>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>
#include <utility>

namespace walrelay::test {
namespace {

constexpr std::string_view fence = "```";
constexpr std::string_view not_run_mark = "<!-- not run: ";
constexpr std::string_view only_if_mark = "<!-- if: ";
constexpr std::string_view ends_with_mark = "<!-- ends with ";
constexpr std::string_view setup_mark = "<!-- before the next block:";
constexpr std::string_view comment_end = "-->";

/// One line after the other, with what was said before the block that comes.
class reader {
public:
    void take(const std::string& line) {
        ++number_;
        const auto start = std::min(line.find_first_not_of(' '), line.size());
        const std::string_view said = std::string_view(line).substr(start);
        if (open_) {
            take_inside(line, said);
        } else if (said.starts_with(fence)) {
            begin(std::string(said.substr(fence.size())), start);
        } else if (said == setup_mark) {
            begin("setup", start);
        } else if (said.starts_with(not_run_mark)) {
            not_run_ = said_after(not_run_mark, said);
        } else if (said.starts_with(only_if_mark)) {
            only_if_ = said_after(only_if_mark, said);
        } else if (said.starts_with(ends_with_mark)) {
            ends_with_ = std::stoi(std::string(said.substr(ends_with_mark.size())));
        } else {
            take_prose(start, said);
        }
    }

    [[nodiscard]] document result() { return std::move(made_); }

private:
    static std::string said_after(std::string_view mark, std::string_view comment) {
        return std::string(comment.substr(mark.size(), comment.find(comment_end) - mark.size()));
    }

    void begin(std::string language, std::size_t indentation) {
        indentation_ = indentation;
        open_ = document_block{.line = number_,
                               .language = std::move(language),
                               .text = {},
                               .not_run = std::exchange(not_run_, {}),
                               .only_if = std::exchange(only_if_, {}),
                               .ends_with = std::exchange(ends_with_, 0)};
    }

    void take_inside(const std::string& line, std::string_view said) {
        const bool ends = open_->language == "setup" ? said == comment_end : said == fence;
        if (!ends) {
            open_->text += line.substr(std::min(indentation_, line.size())) + "\n";
            return;
        }
        made_.blocks.push_back(std::move(*open_));
        open_.reset();
        was_blank_ = false;
    }

    /// An indented block begins after an empty line; in a list it is indented further.
    void take_prose(std::size_t start, std::string_view said) {
        constexpr std::size_t block_indentation = 4;
        if (said.starts_with("- ") || std::regex_search(std::string(said), list_)) {
            in_list_ = start;
        } else if (!said.empty() && start == 0) {
            in_list_.reset();
        }
        const auto least = block_indentation + (in_list_ ? *in_list_ + block_indentation : 0);
        if (was_blank_ && !said.empty() && start >= least) {
            made_.unfenced.push_back(number_);
        }
        was_blank_ = said.empty();
    }

    document made_;
    std::size_t number_ = 0;
    std::size_t indentation_ = 0;
    std::string not_run_;
    std::string only_if_;
    int ends_with_ = 0;
    bool was_blank_ = true;
    std::optional<std::size_t> in_list_;
    std::optional<document_block> open_;
    const std::regex list_{"^[0-9]+\\. "};
};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        auto plain = without_chance(line);
        if (!plain.empty()) {
            lines.push_back(std::move(plain));
        }
    }
    return lines;
}

}  // namespace

document read_document(const std::string& text) {
    reader lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        lines.take(line);
    }
    return lines.result();
}

std::string without_chance(const std::string& line) {
    static const std::regex id("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    static const std::regex position("\\b[0-9A-F]{16}\\b");
    static const std::regex lsn("\\b[0-9A-F]+/[0-9A-F]+\\b");
    static const std::regex number("[0-9]+");
    static const std::regex rule("-{3,}");
    static const std::regex blanks("\\s+");
    auto plain = std::regex_replace(line, id, "ID");
    plain = std::regex_replace(plain, position, "#");
    plain = std::regex_replace(plain, lsn, "LSN");
    plain = std::regex_replace(plain, number, "#");
    plain = std::regex_replace(plain, rule, "---");
    plain = std::regex_replace(plain, blanks, " ");
    const auto first = plain.find_first_not_of(' ');
    return first == std::string::npos
               ? ""
               : plain.substr(first, plain.find_last_not_of(' ') - first + 1);
}

std::string first_missing_line(const std::string& wanted, const std::string& output) {
    const auto there = lines_of(output);
    auto at = there.begin();
    for (const auto& line : lines_of(wanted)) {
        if (line == "...") {
            continue;
        }
        at = std::find(at, there.end(), line);
        if (at == there.end()) {
            return line;
        }
        ++at;
    }
    return {};
}

}  // namespace walrelay::test
