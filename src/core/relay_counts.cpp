#include "core/relay_counts.hpp"

namespace walrelay {

const char* to_string(lost_reason why) {
    switch (why) {
        case lost_reason::unavailable:
            return "unavailable";
        case lost_reason::ended:
            return "ended";
        case lost_reason::refused:
            return "refused";
        case lost_reason::unsuitable:
            return "unsuitable";
        case lost_reason::other:
            break;
    }
    return "other";
}

lost_reason reason_of(const error& why) {
    switch (why.code) {
        case errc::postgres_unavailable:
        case errc::broker_unavailable:
            return lost_reason::unavailable;
        case errc::postgres_lost:
        case errc::broker_lost:
            return lost_reason::ended;
        case errc::postgres_refused:
            return lost_reason::refused;
        case errc::postgres_unsuitable:
        case errc::broker_unsuitable:
        case errc::file_unusable:
            return lost_reason::unsuitable;
        default:
            return lost_reason::other;
    }
}

const char* to_string(publish_trouble what) {
    switch (what) {
        case publish_trouble::transient:
            return "transient";
        case publish_trouble::doubt:
            return "doubt";
        case publish_trouble::refused:
            return "refused";
        case publish_trouble::unsuitable:
            break;
    }
    return "unsuitable";
}

const char* to_string(letter_reason what) {
    return what == letter_reason::row ? "row" : "broker";
}

}  // namespace walrelay
