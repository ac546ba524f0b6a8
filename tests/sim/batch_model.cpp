#include "sim/batch_model.hpp"

namespace walrelay::sim {
namespace {

std::string ack_of(const std::string& name, std::uint64_t sequence, std::uint64_t count) {
    return R"({"stream":"S", "seq":)" + std::to_string(sequence) + R"(,"batch":")" + name +
           R"(","count":)" + std::to_string(count) + "}";
}

}  // namespace

bool batch_model::begins_to_take(const batch_place& place, sim_time now, const say& answer) {
    constexpr sim_time lasts = std::chrono::seconds(10);
    std::erase_if(open_, [&](const auto& each) { return now - each.second.touched > lasts; });
    if (!open_.contains(place.name) && place.number != 1) {
        answer(R"({"error":{"code":400,"err_code":10208,"description":"batch publish ID unknown"},)"
               R"("stream":"S","seq":0})");
        return false;
    }
    auto& of = open_[place.name];
    of.touched = now;
    if (of.ends) {
        return false;
    }
    if (place.number != of.last + 1) {
        if (place.number > of.last) {
            answer(R"({"type":"gap","last_seq":)" + std::to_string(of.last + 1) + R"(,"seq":)" +
                   std::to_string(place.number) + "}");
        }
        end(place.name, answer);
        return false;
    }
    ++of.last;
    of.ends = place.ends;
    if (place.number == 1 && !place.ends) {
        answer(R"({"type":"ack","seq":0,"msgs":100})");
    }
    return true;
}

void batch_model::objected(const batch_place& place, bool is_duplicate, const std::string& words,
                           const say& answer) {
    auto& of = open_[place.name];
    if (is_duplicate) {
        if (of.pending == 0) {
            of.last_stored = place.number;
        }
        if (!place.ends) {
            return;  // skipped, and nobody is told
        }
    }
    if (of.last == 1) {
        open_.erase(place.name);
        answer(words);
        return;
    }
    if (!is_duplicate) {
        answer(R"({"type":"err","seq":)" + std::to_string(place.number) + "," +
               words.substr(words.find('{') + 1));
        --of.last;
        if (of.pending == 0) {
            of.last_stored = of.last;
        }
    }
    end(place.name, answer);
}

void batch_model::end(const std::string& name, const say& answer) {
    auto& of = open_[name];
    of.ends = true;
    if (of.last == of.last_stored) {
        const auto ack = ack_of(name, of.stored_at, of.last);
        open_.erase(name);
        answer(ack);
    }
}

void batch_model::stored(const batch_place& place, std::uint64_t sequence, const say& answer) {
    const auto found = open_.find(place.name);
    if (found == open_.end()) {
        stored_by_follower(place, sequence);
        return;
    }
    auto& of = found->second;
    of.pending -= of.pending > 0 ? 1 : 0;
    of.stored_at = sequence;
    of.last_stored = of.pending == 0 ? of.last : place.number;
    if (of.ends && of.last == of.last_stored) {
        const auto count = of.last;
        open_.erase(found);
        answer(ack_of(place.name, sequence, count));
    }
}

void batch_model::stored_by_follower(const batch_place& place, std::uint64_t sequence) {
    if (place.ends) {
        open_.erase(place.name);
        return;
    }
    auto& of = open_[place.name];
    of.last = of.last_stored = place.number;
    of.stored_at = sequence;
}

void batch_model::change_leader() {
    for (auto& [name, of] : open_) {
        of.last = of.last_stored;
        of.pending = 0;
        of.ends = false;
    }
}

}  // namespace walrelay::sim
