#include "sim/stream_model.hpp"

#include <algorithm>

namespace walrelay::sim {
namespace {

std::string stored_reply(std::uint64_t sequence) {
    return R"({"stream":"S", "seq":)" + std::to_string(sequence) + "}";
}

std::string duplicate_reply(std::uint64_t sequence) {
    return R"({"stream":"S", "seq":)" + std::to_string(sequence) + R"(,"duplicate": true})";
}

}  // namespace

std::string error_reply(int code, int error_code, const std::string& description) {
    std::string json = R"({"error":{"code":)" + std::to_string(code);
    if (error_code != 0) {
        json += R"(,"err_code":)" + std::to_string(error_code);
    }
    return json + R"(,"description":")" + description + R"("},"stream":"S","seq":0})";
}

stream_model::stream_model(world& where, const profile& how, checker& watch)
    : world_(where), profile_(how), checker_(watch) {}

const stream_model::known_id* stream_model::find(const std::string& id) {
    const auto found = ids_.find(id);
    if (id.empty() || found == ids_.end()) {
        return nullptr;
    }
    if (world_.now() - found->second.since > profile_.duplicate_window) {
        ids_.erase(found);
        return nullptr;
    }
    return &found->second;
}

std::optional<std::string> stream_model::check_sequence(const published& what,
                                                        std::uint64_t last) const {
    if (!what.expected_last_sequence || *what.expected_last_sequence == last) {
        return std::nullopt;
    }
    return error_reply(400, 10071, "wrong last sequence: " + std::to_string(last));
}

std::optional<std::string> stream_model::check_duplicate(const published& what) {
    const auto* const earlier = find(what.id);
    if (earlier == nullptr) {
        return std::nullopt;
    }
    if (earlier->sequence == 0 && profile_.stream != generation::cluster_2_10) {
        return error_reply(409, 10158, "duplicate message id is in process");
    }
    return duplicate_reply(earlier->sequence);
}

std::optional<std::string> stream_model::check_at_leader(const published& what) {
    if (profile_.stream == generation::cluster_2_9) {
        return std::nullopt;
    }
    if (auto duplicate = check_duplicate(what)) {
        return duplicate;
    }
    if (profile_.stream == generation::cluster_2_12) {
        return check_sequence(what, proposed_);
    }
    return std::nullopt;
}

void stream_model::proposed(const published& what) {
    ++proposed_;
    if (!what.id.empty() && profile_.stream != generation::cluster_2_9) {
        ids_[what.id] = {0, world_.now()};
    }
}

std::string stream_model::apply(const published& what) {
    const auto* const earlier = find(what.id);
    const bool is_duplicate = earlier != nullptr && earlier->sequence > 0;
    const auto wrong = check_sequence(what, last_sequence());
    if (profile_.stream == generation::single_2_12 && wrong) {
        return *wrong;
    }
    if (is_duplicate) {
        return duplicate_reply(earlier->sequence);
    }
    if (wrong) {
        return *wrong;
    }
    messages_.push_back({last_sequence() + 1, what.id, what.subject, what.body, what.position,
                         world_.now(), what.forged});
    if (!what.id.empty()) {
        ids_[what.id] = {last_sequence(), world_.now()};
    }
    world_.say("stream: ", last_sequence(), " is ", what.id.empty() ? "a stranger's" : what.id);
    if (messages_.back().is_ours()) {
        checker_.on_stored(messages_.back());
    }
    return stored_reply(last_sequence());
}

void stream_model::trim(std::uint64_t before) {
    first_sequence_ = std::max(first_sequence_, before);
    world_.say("stream: begins at ", first_sequence_);
}

const stored_message* stream_model::message(std::uint64_t sequence) const {
    const bool is_there = sequence >= first_sequence_ && sequence <= last_sequence();
    return is_there ? &messages_[static_cast<std::size_t>(sequence - 1)] : nullptr;
}

bool stream_model::has(const std::string& id,
                       const std::function<bool(const position&)>& is_left) const {
    return std::any_of(messages_.begin(), messages_.end(), [&](const stored_message& each) {
        const auto where = parse_position(each.position);
        return each.id == id && (!where || !is_left(*where));
    });
}

void stream_model::change_leader() {
    proposed_ = last_sequence();
    if (profile_.stream == generation::cluster_2_10) {
        return;
    }
    std::erase_if(ids_, [](const auto& each) { return each.second.sequence == 0; });
}

void stream_model::keep_first(std::size_t count) {
    messages_.resize(std::min(count, messages_.size()));
    first_sequence_ = std::min(first_sequence_, last_sequence() + 1);
    proposed_ = last_sequence();
    ids_.clear();
    for (const auto& each : messages_) {
        if (!each.id.empty()) {
            ids_[each.id] = {each.sequence, each.stored_at};
        }
    }
}

void stream_model::lose(std::size_t count, bool unseen) {
    keep_first(messages_.size() - std::min(count, messages_.size()));
    if (count > 0) {
        checker_.on_stream_lost(messages_, unseen);
    }
}

void stream_model::harm(std::size_t kept, std::size_t strangers, lsn slot) {
    keep_first(kept);
    for (std::size_t count = 0; count < strangers; ++count) {
        messages_.push_back(
            {last_sequence() + 1, "", "events.stranger", "", "", world_.now(), true});
    }
    proposed_ = last_sequence();
    checker_.on_stream_harmed(messages_, slot);
}

}  // namespace walrelay::sim
