// See mail_desk.hpp.
#include "consumer/mail_desk.hpp"

#include "consumer/mail_text.hpp"

#include <ctime>
#include <iostream>

namespace memo {
namespace {

void log(const mail_order& order, const std::string& what) {
    std::cerr << order.message_id << ": " << what << std::endl;
}

/// For the operator who finds it in the row: what is known, and how to go on.
std::string unsure_text(const mail_order& order, const settings& options, const std::string& why) {
    return "the mail server may have this mail or not (" + why + "); look in its log for " +
           message_id_header(order.message_id, options.from) +
           ", and set the status to PENDING to send it once more";
}

}  // namespace

verdict mail_desk::handle(const mail_order& order) {
    const auto found = memory_.take(order);
    if (found == claim::busy || found == claim::early) {
        return verdict::later;
    }
    const auto result = act(order, found);
    memory_.release(order);
    return result;
}

verdict mail_desk::act(const mail_order& order, claim found) {
    switch (found) {
        case claim::finished:
            log(order, "has been here before");
            return verdict::done;
        case claim::unsure:
            log(order, "an earlier try ended without an answer");
            memory_.finish_failed(
                order, unsure_text(order, options_, "the consumer ended before it had an answer"));
            return verdict::done;
        case claim::worn_out:
            memory_.finish_failed(order, "the consumer ended in each of its tries");
            return verdict::done;
        case claim::mine:
        case claim::busy:
        case claim::early:
            break;
    }
    return send(order);
}

verdict mail_desk::send(const mail_order& order) {
    if (!order.defect.empty()) {
        log(order, order.defect);
        memory_.finish_failed(order, order.defect);
        return verdict::done;
    }
    const auto before_the_end = [&] {
        try {
            memory_.hand_over(order);
            return true;
        } catch (const std::exception& lost) {
            log(order, std::string("not handed over: ") + lost.what());
            return false;
        }
    };
    const auto text = mail_text(order, options_.from, std::time(nullptr));
    const auto result = server_.send(order.recipient, text, before_the_end);
    if (result.outcome == handover::accepted) {
        log(order, "sent");
        memory_.finish_sent(order);
        return verdict::done;
    }
    log(order, result.error);
    if (result.outcome == handover::unsure) {
        memory_.finish_failed(order, unsure_text(order, options_, result.error));
        return verdict::done;
    }
    return memory_.note_failure(order, result.error) ? verdict::later : verdict::done;
}

}  // namespace memo
