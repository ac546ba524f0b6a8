#include "outbox/column_names.hpp"

#include <array>

namespace walrelay::outbox {
namespace {

using name = std::string_view;

constexpr std::array id_names = {name("id"),   name("eventid"),   name("messageid"),
                                 name("uuid"), name("eventuuid"), name("eventidentifier"),
                                 name("guid")};
constexpr std::array aggregate_type_names = {name("aggregatetype"), name("aggregatename"),
                                             name("entitytype"),    name("eventabletype"),
                                             name("aggregate"),     name("entity")};
constexpr std::array aggregate_id_names = {name("aggregateid"),
                                           name("aggregateidentifier"),
                                           name("aggregateuuid"),
                                           name("entityid"),
                                           name("eventableid"),
                                           name("segment"),
                                           name("partitionkey"),
                                           name("messagekey"),
                                           name("messagegroup"),
                                           name("groupid"),
                                           name("key")};
constexpr std::array event_type_names = {
    name("eventtype"),  name("messagetype"), name("eventname"), name("payloadtype"),
    name("type"),       name("name"),        name("topic"),     name("destination"),
    name("queue"),      name("stream"),      name("subject"),   name("channel"),
    name("routingkey"), name("event")};
constexpr std::array payload_names = {
    name("eventdata"),       name("payload"), name("eventpayload"), name("messagepayload"),
    name("serializedevent"), name("body"),    name("messagebody"),  name("data"),
    name("content"),         name("message"), name("value"),        name("invocation"),
    name("event"),           name("json")};
constexpr std::array metadata_names = {
    name("metadata"),   name("eventmetadata"), name("headers"), name("messageheaders"),
    name("properties"), name("attributes"),    name("meta")};
constexpr std::array version_names = {name("version"), name("aggregateversion"),
                                      name("eventversion"), name("sequencenumber")};
constexpr std::array created_at_names = {
    name("createdat"),    name("metacreatedat"),   name("timestamp"),     name("occurredat"),
    name("occurredon"),   name("occurredonutc"),   name("occurredatutc"), name("createdatutc"),
    name("createdonutc"), name("createdon"),       name("creationtime"),  name("createdtime"),
    name("eventtime"),    name("eventtimestamp"),  name("insertedat"),    name("addedat"),
    name("added"),        name("publicationdate"), name("enqueuetime"),   name("created"),
    name("date")};

constexpr std::array states = {name("status"), name("state"), name("outboxstatus"),
                               name("eventstatus"), name("messagestatus")};
constexpr std::array flags = {name("published"),  name("sent"),        name("processed"),
                              name("delivered"),  name("dispatched"),  name("acked"),
                              name("completed"),  name("ispublished"), name("issent"),
                              name("isprocessed")};
constexpr std::array times = {
    name("publishedat"),    name("sentat"),         name("processedat"),    name("deliveredat"),
    name("dispatchedat"),   name("completedat"),    name("publishedon"),    name("senton"),
    name("processedon"),    name("processedonutc"), name("processedatutc"), name("publishedatutc"),
    name("completiondate"), name("senttime"),       name("publishedtime")};
constexpr std::array given_up = {name("abandonedat"), name("failedat"), name("discardedat")};
constexpr std::array sent = {name("published"), name("sent"),      name("processed"),
                             name("delivered"), name("completed"), name("dispatched"),
                             name("done"),      name("success"),   name("succeeded")};
constexpr std::array pending = {name("pending"),     name("new"),     name("created"),
                                name("unpublished"), name("unsent"),  name("ready"),
                                name("queued"),      name("waiting"), name("scheduled")};

}  // namespace

std::span<const std::string_view> names_of(column_role role) {
    switch (role) {
        case column_role::id:
            return id_names;
        case column_role::aggregate_type:
            return aggregate_type_names;
        case column_role::aggregate_id:
            return aggregate_id_names;
        case column_role::event_type:
            return event_type_names;
        case column_role::payload:
            return payload_names;
        case column_role::metadata:
            return metadata_names;
        case column_role::version:
            return version_names;
        case column_role::created_at:
            return created_at_names;
    }
    return {};
}

std::span<const std::string_view> status_names() {
    return states;
}

std::span<const std::string_view> flag_names() {
    return flags;
}

std::span<const std::string_view> time_names() {
    return times;
}

std::span<const std::string_view> given_up_names() {
    return given_up;
}

std::span<const std::string_view> sent_words() {
    return sent;
}

std::span<const std::string_view> pending_words() {
    return pending;
}

}  // namespace walrelay::outbox
