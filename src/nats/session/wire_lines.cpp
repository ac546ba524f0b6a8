#include "nats/session/wire_lines.hpp"

#include "core/assert.hpp"

#include <array>
#include <charconv>
#include <cstring>

namespace walrelay::nats {
namespace {

constexpr std::string_view version_line = "NATS/1.0\r\n";
constexpr std::string_view line_end = "\r\n";
constexpr std::string_view after_name = ": ";
constexpr std::string_view id_name = "Nats-Msg-Id";
constexpr std::string_view stream_name = "Nats-Expected-Stream";
constexpr std::string_view sequence_name = "Nats-Expected-Last-Sequence";

// Of reply subjects in a batch: <inbox><name>.<flow>.fail.<number>.<operation>.$FI. A message that
// does not fit ends the batch (fail).
constexpr std::string_view on_gap = ".fail.";
constexpr std::string_view batch_end = ".$FI";
constexpr char begins = '0';
constexpr char goes_on = '1';
constexpr char ends = '2';

/// A number as text, without an allocation.
class digits {
public:
    explicit digits(std::uint64_t number)
        : end_(std::to_chars(text_.data(), text_.data() + text_.size(), number).ptr) {}
    [[nodiscard]] std::string_view text() const { return {text_.data(), end_}; }

private:
    static constexpr std::size_t digits_max = 20;
    std::array<char, digits_max> text_;
    const char* end_;
};

/// Writes into room that was made before: once, and not for each of the many short pieces.
class piece_writer {
public:
    explicit piece_writer(char* room) : at_(room) {}

    piece_writer& put(std::string_view piece) {
        std::memcpy(at_, piece.data(), piece.size());
        at_ += piece.size();
        return *this;
    }
    piece_writer& put_header(std::string_view name, std::string_view value) {
        return put(name).put(after_name).put(value).put(line_end);
    }
    [[nodiscard]] const char* end() const { return at_; }

private:
    char* at_;
};

std::size_t header_bytes(std::string_view name, std::string_view value) {
    return name.size() + after_name.size() + value.size() + line_end.size();
}

/// The headers of one publish.
class header_block {
public:
    header_block(const message& content, const publish_terms& terms)
        : content_(content),
          stream_(terms.refused_unless_stream),
          has_sequence_(terms.expected_last_sequence.has_value()),
          sequence_(terms.expected_last_sequence.value_or(0)) {}

    [[nodiscard]] std::size_t bytes() const {
        std::size_t total = version_line.size() + line_end.size();
        total += header_bytes(id_name, content_.id);
        total += stream_.empty() ? 0 : header_bytes(stream_name, stream_);
        total += has_sequence_ ? header_bytes(sequence_name, sequence_.text()) : 0;
        for (std::size_t each = 0; each < content_.header_count(); ++each) {
            const auto& extra = content_.header_at(each);
            total += header_bytes(extra.name, extra.value);
        }
        return total;
    }

    void write(piece_writer& into) const {
        into.put(version_line).put_header(id_name, content_.id);
        if (!stream_.empty()) {
            into.put_header(stream_name, stream_);
        }
        if (has_sequence_) {
            into.put_header(sequence_name, sequence_.text());
        }
        for (std::size_t each = 0; each < content_.header_count(); ++each) {
            const auto& extra = content_.header_at(each);
            into.put_header(extra.name, extra.value);
        }
        into.put(line_end);
    }

private:
    const message& content_;
    std::string_view stream_;
    bool has_sequence_;
    digits sequence_;
};

/// What follows the inbox in a reply subject.
class reply_end {
public:
    explicit reply_end(const publish_terms& terms) {
        if (!terms.batch) {
            end_ = std::to_chars(text_.data(), text_.data() + text_.size(), terms.index).ptr;
            return;
        }
        const auto& batch = *terms.batch;
        WALRELAY_ASSERT(batch.name.size() <= name_max);
        const char operation = batch.number == 1 ? begins : goes_on;
        piece_writer into(text_.data());
        into.put(batch.name).put(".").put(digits(batch.flow).text()).put(on_gap);
        into.put(digits(batch.number).text()).put(".").put({&operation, 1}).put(batch_end);
        end_ = into.end();
    }
    [[nodiscard]] std::string_view text() const { return {text_.data(), end_}; }

private:
    static constexpr std::size_t name_max = 64;
    static constexpr std::size_t rest_max = 40;
    std::array<char, name_max + rest_max> text_;
    const char* end_;
};

}  // namespace

publish_line append_publish(std::string& lines, const message& content,
                            const publish_terms& terms) {
    constexpr std::string_view verb = "HPUB ";
    const header_block headers(content, terms);
    const std::size_t headers_size = headers.bytes();
    const std::size_t total = headers_size + content.body.size();
    const reply_end reply(terms);
    const digits headers_digits(headers_size);
    const digits total_digits(total);
    const std::size_t blanks = 3;
    const std::size_t line = verb.size() + content.subject.size() + terms.inbox.size() +
                             reply.text().size() + headers_digits.text().size() +
                             total_digits.text().size() + blanks + line_end.size();

    const std::size_t before = lines.size();
    lines.resize(before + line + total + line_end.size());
    piece_writer into(lines.data() + before);
    into.put(verb).put(content.subject).put(" ").put(terms.inbox);
    const auto reply_begin = static_cast<std::size_t>(into.end() - lines.data());
    into.put(reply.text()).put(" ").put(headers_digits.text()).put(" ");
    into.put(total_digits.text()).put(line_end);
    headers.write(into);
    into.put(content.body).put(line_end);
    WALRELAY_ASSERT(into.end() == lines.data() + lines.size());
    return {total, reply_begin, reply_begin + reply.text().size()};
}

void end_batch(std::string& lines, const publish_line& last) {
    char& operation = lines[last.reply_end - batch_end.size() - 1];
    WALRELAY_ASSERT(operation == goes_on);
    operation = ends;
}

void publish_singly(std::string& lines, const publish_line& only, std::uint64_t index) {
    lines.replace(only.reply_begin, only.reply_end - only.reply_begin, digits(index).text());
}

namespace {

/// Takes a number from the front of `text`.
template <class Number>
bool take_number(std::string_view& text, Number& into) {
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, into);
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    return failure == std::errc{};
}

bool take_text(std::string_view& text, std::string_view expected) {
    const bool is_there = text.starts_with(expected);
    text.remove_prefix(is_there ? expected.size() : 0);
    return is_there;
}

}  // namespace

std::optional<reply_words> read_reply_words(std::string_view words, std::string_view name) {
    reply_words read;
    if (name.empty() || !take_text(words, name)) {
        return take_number(words, read.index) && words.empty() ? std::optional(read) : std::nullopt;
    }
    std::uint32_t flow = 0;
    std::uint32_t operation = 0;
    const bool is_ours = take_number(words, read.index) && take_text(words, ".") &&
                         take_number(words, flow) && take_text(words, on_gap) &&
                         take_number(words, read.number) && take_text(words, ".") &&
                         take_number(words, operation) && words == batch_end && read.number > 0;
    read.ends_batch = operation == static_cast<std::uint32_t>(ends - '0');
    return is_ours ? std::optional(read) : std::nullopt;
}

void append_request(std::string& lines, std::string_view subject, std::string_view inbox,
                    unsigned id) {
    append_subscribe(lines, inbox, id);
    lines.append("UNSUB ").append(digits(id).text()).append(" 1").append(line_end);
    lines.append("PUB ").append(subject).append(" ").append(inbox).append(" 0\r\n\r\n");
}

void append_subscribe(std::string& lines, std::string_view subject, unsigned id) {
    lines.append("SUB ").append(subject).append(" ").append(digits(id).text()).append(line_end);
}

void append_unsubscribe(std::string& lines, unsigned id) {
    lines.append("UNSUB ").append(digits(id).text()).append(line_end);
}

}  // namespace walrelay::nats
