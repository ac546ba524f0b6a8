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

}  // namespace

std::size_t append_publish(std::string& lines, const message& content, const publish_terms& terms) {
    constexpr std::string_view verb = "HPUB ";
    const header_block headers(content, terms);
    const std::size_t headers_size = headers.bytes();
    const std::size_t total = headers_size + content.body.size();
    const digits index(terms.index);
    const digits headers_digits(headers_size);
    const digits total_digits(total);
    const std::size_t blanks = 3;
    const std::size_t line = verb.size() + content.subject.size() + terms.inbox.size() +
                             index.text().size() + headers_digits.text().size() +
                             total_digits.text().size() + blanks + line_end.size();

    const std::size_t before = lines.size();
    lines.resize(before + line + total + line_end.size());
    piece_writer into(lines.data() + before);
    into.put(verb).put(content.subject).put(" ").put(terms.inbox).put(index.text());
    into.put(" ").put(headers_digits.text()).put(" ").put(total_digits.text()).put(line_end);
    headers.write(into);
    into.put(content.body).put(line_end);
    WALRELAY_ASSERT(into.end() == lines.data() + lines.size());
    return total;
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
