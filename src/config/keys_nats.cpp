// The keys of [nats].
#include "config/key_makers.hpp"
#include "config/sections.hpp"

namespace walrelay::config {
namespace {

/// A key that names a file or a user: not judged before it is used.
key plain(std::string_view name, place<std::string> at, std::string_view documentation) {
    return text_key({"nats", name, "", documentation}, at);
}

std::vector<key> stream_keys() {
    return {
        list_key(
            {"nats", "urls", "--nats",
             "The servers of the broker: `nats://` or `tls://`, host and port. Several are "
             "servers of one cluster, tried in turn."},
            [](const destination& to) -> std::vector<std::string>& { return to.all.nats.urls; },
            check_url),
        text_key(
            {"nats", "stream", "--stream",
             "The JetStream stream that receives the messages: no blanks, dots, `*`, `>` or "
             "slashes."},
            [](const destination& to) -> std::string& { return to.all.nats.stream; }, check_stream),
        list_key(
            {"nats", "subjects", "--subjects",
             "The subjects of the stream. Used only where walrelay creates it (with file "
             "storage and limits retention)."},
            [](const destination& to) -> std::vector<std::string>& { return to.all.nats.subjects; },
            check_subject),
        integer_key<std::int64_t>(
            {"nats", "replicas", "",
             "How many servers keep a copy of the stream, 1 to 5. Used only where walrelay creates "
             "it."},
            [](const destination& to) -> std::int64_t& { return to.all.nats.replicas; }, {1, 5}),
        boolean_key({"nats", "sole_writer", "",
                     "Whether walrelay is the only writer of the stream. `true`: exactly once, in "
                     "commit order, many messages on their way at once; the stream is the "
                     "checkpoint. `false`: others may write too; order holds for each aggregate, "
                     "and duplicates are suppressed within the stream's duplicate window."},
                    [](const destination& to) -> bool& { return to.all.nats.sole_writer; }),
    };
}

std::vector<key> access_keys() {
    return {
        text_key(
            {"nats", "inbox_prefix", "",
             "What the subjects begin with that the broker answers to. A user that may subscribe "
             "on a prefix of its own, `<prefix>.>`, cannot read the answers to others."},
            [](const destination& to) -> std::string& { return to.all.nats.inbox_prefix; },
            check_inbox_prefix),
        plain(
            "credentials",
            [](const destination& to) -> std::string& { return to.all.nats.credentials; },
            "File of NATS credentials (user JWT and seed). At most one of `credentials`, "
            "`nkey_seed`, `user` and `token_file` is set."),
        plain(
            "nkey_seed",
            [](const destination& to) -> std::string& { return to.all.nats.nkey_seed; },
            "File that holds the seed of an NKey."),
        plain(
            "user", [](const destination& to) -> std::string& { return to.all.nats.user; },
            "Name of the user; its password stands in `password_file`."),
        plain(
            "password_file",
            [](const destination& to) -> std::string& { return to.all.nats.password_file; },
            "File that holds the password of `user`."),
        plain(
            "token_file",
            [](const destination& to) -> std::string& { return to.all.nats.token_file; },
            "File that holds a token."),
        plain(
            "tls.ca", [](const destination& to) -> std::string& { return to.all.nats.tls.ca; },
            "File of PEM certificates of authorities: no other's server is believed. Without it, "
            "those of the system."),
        plain(
            "tls.cert", [](const destination& to) -> std::string& { return to.all.nats.tls.cert; },
            "File of the client's PEM certificate; goes together with `tls.key`."),
        plain(
            "tls.key", [](const destination& to) -> std::string& { return to.all.nats.tls.key; },
            "File of the PEM key of `tls.cert`."),
        boolean_key({"nats", "tls.handshake_first", "",
                     "Whether TLS begins before the server says anything, as nats-server wants it "
                     "with `handshake_first` in its tls block."},
                    [](const destination& to) -> bool& { return to.all.nats.tls.handshake_first; }),
    };
}

}  // namespace

std::vector<key> nats_keys() {
    std::vector<key> all = stream_keys();
    for (key& row : access_keys()) {
        all.push_back(std::move(row));
    }
    return all;
}

}  // namespace walrelay::config
