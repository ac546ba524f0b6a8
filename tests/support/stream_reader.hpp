// The consumer's side of a test: looks into a JetStream stream, and sets streams up.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::test {

struct stored_message {
    std::uint64_t sequence = 0;
    std::string subject;
    /// Names as they were sent. Of a name that is there twice, the first value.
    std::map<std::string, std::string> headers;
    std::string body;
    /// When the broker stored it, on its own clock.
    std::chrono::sys_time<std::chrono::nanoseconds> stored_at{};

    /// Empty if the message does not have it.
    [[nodiscard]] std::string header(const std::string& name) const;
};

enum class retention { limits, interest, work_queue };

struct stream_options {
    std::string name;
    std::vector<std::string> subjects;
    retention keeps = retention::limits;
    /// -1 is unlimited.
    std::int32_t max_message_bytes = -1;
    std::int64_t max_messages = -1;
    bool discard_new = false;
    /// -1 is unlimited; at the limit messages are refused, where `discard_new` is set.
    std::int64_t max_messages_per_subject = -1;
    std::int64_t replicas = 1;
    /// 0 is the broker's own default of two minutes.
    std::chrono::nanoseconds duplicate_window{0};
    /// Filled by the server from this stream, with its sequence numbers; has no subjects then.
    std::string mirror_of = {};
    /// The same, with sequence numbers of its own.
    std::string source = {};
};

struct stream_state {
    std::uint64_t messages = 0;
    std::uint64_t first_sequence = 0;
    std::uint64_t last_sequence = 0;
    std::int64_t consumers = 0;
    std::string description;
    std::vector<std::string> subjects;
    retention keeps = retention::limits;
    bool file_storage = false;
    std::int64_t replicas = 0;
    std::chrono::nanoseconds duplicate_window{0};
    /// The name of the server that leads the stream's group; empty where there is no cluster, or
    /// no leader at the moment.
    std::string leader;
};

/// Connects when it is constructed and reconnects for ever when the broker comes back. Throws
/// std::runtime_error with the broker's words, unless a function says otherwise.
class stream_reader {
public:
    /// `url` may be several with commas in between; a request without an answer fails after
    /// `patience`.
    explicit stream_reader(const std::string& url,
                           std::chrono::milliseconds patience = std::chrono::seconds(5));
    ~stream_reader();
    stream_reader(const stream_reader&) = delete;
    stream_reader& operator=(const stream_reader&) = delete;

    void create(const stream_options& options);
    /// The same with the JSON of a configuration as the server takes it, for what the library does
    /// not know.
    void create(const std::string& name, const std::string& configuration);
    void remove(const std::string& stream);
    void purge(const std::string& stream);
    /// What an operator may change of a stream that is there.
    void seal(const std::string& stream);
    /// -1 is unlimited; at the limit new messages are refused.
    void limit(const std::string& stream, std::int64_t max_messages);
    /// At the limit the oldest messages are removed.
    void keep_newest(const std::string& stream, std::int64_t max_messages);
    /// 0 is never.
    void expire(const std::string& stream, std::chrono::nanoseconds max_age);
    void set_subjects(const std::string& stream, const std::vector<std::string>& subjects);
    /// -1 is unlimited; headers and body together.
    void limit_size(const std::string& stream, std::int32_t max_message_bytes);
    /// Takes back max_messages_per_subject.
    void free_subjects(const std::string& stream);
    void delete_message(const std::string& stream, std::uint64_t sequence);
    /// Nothing if there is no such stream.
    [[nodiscard]] std::optional<stream_state> state(const std::string& stream);
    /// The last message with a subject, which may have wildcards; nothing if there is none.
    [[nodiscard]] std::optional<stored_message> last(const std::string& stream,
                                                     const std::string& subject);
    /// Asks the leader of the stream's group to hand over.
    void step_down(const std::string& stream);
    /// 0 also where the stream, or at the moment the broker, is not there.
    [[nodiscard]] std::uint64_t message_count(const std::string& stream);
    /// False if there are still fewer after `patience`.
    [[nodiscard]] bool wait_for(const std::string& stream, std::uint64_t messages,
                                std::chrono::milliseconds patience);

    /// Calls `visit` with every message, in the order of the stream, and keeps none.
    void for_each(const std::string& stream, std::uint64_t after,
                  const std::function<void(const stored_message&)>& visit);
    /// Every message after the sequence number `after`, in the order of the stream.
    [[nodiscard]] std::vector<stored_message> read(const std::string& stream,
                                                   std::uint64_t after = 0);
    /// Stores a message as a stranger would, and returns its sequence number.
    std::uint64_t publish(const std::string& subject, const std::string& body,
                          const std::map<std::string, std::string>& headers = {});

private:
    struct connection;
    std::unique_ptr<connection> connection_;
};

}  // namespace walrelay::test
