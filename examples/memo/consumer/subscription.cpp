// See subscription.hpp.
#include "consumer/subscription.hpp"

#include <nats/nats.h>

#include <stdexcept>

namespace memo {
namespace {

template <class Handle, void (*Destroy)(Handle*)>
struct destroy_with {
    void operator()(Handle* handle) const { Destroy(handle); }
};
template <class Handle, void (*Destroy)(Handle*)>
using owned = std::unique_ptr<Handle, destroy_with<Handle, Destroy>>;

void require(natsStatus status, const std::string& what) {
    if (status != NATS_OK) {
        const char* detail = nats_GetLastError(nullptr);
        throw std::runtime_error(what + ": " + natsStatus_GetText(status) + " " +
                                 (detail != nullptr ? detail : ""));
    }
}

std::string header_of(natsMsg* message, const char* name) {
    const char* value = nullptr;
    return natsMsgHeader_Get(message, name, &value) == NATS_OK ? value : "";
}

}  // namespace

struct subscription::state {
    owned<natsConnection, natsConnection_Destroy> connection;
    owned<jsCtx, jsCtx_Destroy> jetstream;
    owned<natsSubscription, natsSubscription_Destroy> messages;
    owned<natsMsg, natsMsg_Destroy> current;

    void connect(const std::string& url) {
        natsConnection* made = nullptr;
        require(natsConnection_ConnectTo(&made, url.c_str()), url);
        connection.reset(made);
        jsCtx* context = nullptr;
        require(natsConnection_JetStream(&context, made, nullptr), url);
        jetstream.reset(context);
    }

    void subscribe(const settings& options) {
        jsSubOptions how;
        require(jsSubOptions_Init(&how), "nats.c");
        how.Stream = options.stream.c_str();
        how.Config.AckWait = std::chrono::nanoseconds(options.ack_wait).count();
        // How often a mail is tried is counted in the inbox.
        how.Config.MaxDeliver = -1;
        natsSubscription* made = nullptr;
        require(js_PullSubscribe(&made, jetstream.get(), options.subject.c_str(),
                                 options.consumer.c_str(), nullptr, &how, nullptr),
                "stream " + options.stream);
        messages.reset(made);
    }
};

subscription::subscription(const settings& options) : state_(std::make_unique<state>()) {
    state_->connect(options.nats);
    state_->subscribe(options);
}

subscription::~subscription() = default;

std::optional<incoming> subscription::next(std::chrono::milliseconds patience) {
    // One at a time: the time to acknowledge begins when a message is fetched.
    natsMsgList list{};
    const auto status =
        natsSubscription_Fetch(&list, state_->messages.get(), 1, patience.count(), nullptr);
    if (status == NATS_TIMEOUT) {
        return std::nullopt;
    }
    require(status, "cannot fetch");
    const owned<natsMsgList, natsMsgList_Destroy> keeper(&list);
    state_->current.reset(list.Msgs[0]);
    list.Msgs[0] = nullptr;
    auto* const message = state_->current.get();
    return incoming{.message_id = header_of(message, "Nats-Msg-Id"),
                    .recipient = header_of(message, "Recipient"),
                    .body = {natsMsg_GetData(message),
                             static_cast<std::size_t>(natsMsg_GetDataLength(message))}};
}

void subscription::acknowledge() {
    require(natsMsg_Ack(state_->current.get(), nullptr), "cannot acknowledge");
}

void subscription::postpone(std::chrono::milliseconds delay) {
    require(natsMsg_NakWithDelay(state_->current.get(), delay.count(), nullptr), "cannot postpone");
}

}  // namespace memo
