// See stream_follower.hpp.
#include "support/stream_follower.hpp"

#include "support/nats_handles.hpp"

#include <utility>

namespace walrelay::test {
namespace {

void create_consumer(jsCtx* jetstream, const std::string& stream, const std::string& inbox,
                     std::uint64_t first_sequence) {
    jsConsumerConfig config;
    jsConsumerConfig_Init(&config);
    config.AckPolicy = js_AckNone;
    config.DeliverPolicy = js_DeliverByStartSequence;
    config.OptStartSeq = first_sequence;
    config.DeliverSubject = inbox.c_str();
    require(js_AddConsumer(nullptr, jetstream, stream.c_str(), &config, nullptr, nullptr),
            "cannot follow stream " + stream);
}

std::string new_inbox() {
    natsInbox* raw = nullptr;
    require(natsInbox_Create(&raw), "cannot make an inbox");
    const owned<natsInbox, natsInbox_Destroy> inbox(raw);
    return raw;
}

}  // namespace

struct stream_follower::state {
    std::function<void(const stored_message&)> arrived;
    connection_handle link;
    subscription_handle subscription;

    static void deliver(natsConnection* /*link*/, natsSubscription* /*subscription*/,
                        natsMsg* message, void* context) {
        const message_handle keeper(message);
        static_cast<state*>(context)->arrived(delivery_of(message).content);
    }
};

stream_follower::stream_follower(const std::string& url, const std::string& stream,
                                 std::function<void(const stored_message&)> arrived,
                                 std::uint64_t first_sequence)
    : state_(std::make_unique<state>()) {
    state_->arrived = std::move(arrived);
    state_->link = connect_to(url);
    const auto inbox = new_inbox();
    natsSubscription* subscription = nullptr;
    require(natsConnection_Subscribe(&subscription, state_->link.get(), inbox.c_str(),
                                     state::deliver, state_.get()),
            "cannot subscribe");
    state_->subscription.reset(subscription);
    create_consumer(jetstream_of(state_->link.get()).get(), stream, inbox, first_sequence);
}

stream_follower::~stream_follower() {
    // Returns once no callback can run any more: the library closes its threads with it.
    natsSubscription_Drain(state_->subscription.get());
    natsSubscription_WaitForDrainCompletion(state_->subscription.get(), 2000);
}

}  // namespace walrelay::test
