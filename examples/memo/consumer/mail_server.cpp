// See mail_server.hpp.
#include "consumer/mail_server.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace memo {
namespace {

struct free_handle {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct free_list {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

struct conversation {
    std::string_view rest;
    const std::function<bool()>& before_the_end;
    bool handed_over = false;
    std::string last_reply = {};
};

std::size_t give(char* buffer, std::size_t size, std::size_t count, void* context) {
    auto& talk = *static_cast<conversation*>(context);
    if (talk.rest.empty() && !talk.handed_over) {
        talk.handed_over = talk.before_the_end();
        return talk.handed_over ? 0 : CURL_READFUNC_ABORT;
    }
    const auto part = std::min(talk.rest.size(), size * count);
    std::memcpy(buffer, talk.rest.data(), part);
    talk.rest.remove_prefix(part);
    return part;
}

std::size_t hear(char* line, std::size_t size, std::size_t count, void* context) {
    std::string_view text(line, size * count);
    while (!text.empty() && (text.back() == '\r' || text.back() == '\n')) {
        text.remove_suffix(1);
    }
    static_cast<conversation*>(context)->last_reply = text;
    return size * count;
}

template <class Value>
void set(CURL* handle, CURLoption option, Value value) {
    if (const auto code = curl_easy_setopt(handle, option, value); code != CURLE_OK) {
        throw std::runtime_error(std::string("libcurl: ") + curl_easy_strerror(code));
    }
}

long last_code(CURL* handle) {
    long code = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &code);
    return code;
}

/// A refusal is an answer; what was not answered may have arrived.
handover outcome_of(CURLcode code, long reply, bool handed_over) {
    constexpr long first_refusal = 400;
    if (code == CURLE_OK) {
        return handover::accepted;
    }
    return handed_over && reply < first_refusal ? handover::unsure : handover::refused;
}

}  // namespace

handover_result mail_server::send(const std::string& recipient, const std::string& text,
                                  const std::function<bool()>& before_the_end) const {
    const std::unique_ptr<CURL, free_handle> handle(curl_easy_init());
    const std::unique_ptr<curl_slist, free_list> recipients(
        curl_slist_append(nullptr, recipient.c_str()));
    if (!handle || !recipients) {
        throw std::runtime_error("libcurl: out of memory");
    }
    conversation talk{.rest = text, .before_the_end = before_the_end};
    std::array<char, CURL_ERROR_SIZE> error{};
    set(handle.get(), CURLOPT_URL, options_.smtp.c_str());
    set(handle.get(), CURLOPT_MAIL_FROM, options_.from.c_str());
    set(handle.get(), CURLOPT_MAIL_RCPT, recipients.get());
    set(handle.get(), CURLOPT_UPLOAD, 1L);
    set(handle.get(), CURLOPT_READFUNCTION, give);
    set(handle.get(), CURLOPT_READDATA, &talk);
    set(handle.get(), CURLOPT_HEADERFUNCTION, hear);
    set(handle.get(), CURLOPT_HEADERDATA, &talk);
    set(handle.get(), CURLOPT_ERRORBUFFER, error.data());
    set(handle.get(), CURLOPT_NOSIGNAL, 1L);
    set(handle.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(options_.smtp_timeout.count()));

    const auto code = curl_easy_perform(handle.get());
    const auto outcome = outcome_of(code, last_code(handle.get()), talk.handed_over);
    if (outcome == handover::accepted) {
        return {.outcome = outcome};
    }
    const std::string words = error.front() != '\0' ? error.data() : curl_easy_strerror(code);
    return {.outcome = outcome,
            .error = talk.last_reply.empty() ? words : words + ", last reply: " + talk.last_reply};
}

}  // namespace memo
