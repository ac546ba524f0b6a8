#include "relay/intake.hpp"

#include "core/assert.hpp"

#include <utility>

namespace walrelay::relay {
namespace {

error unknown_table(const table_name& table) {
    return {errc::table_unknown,
            "rows of table " + to_string(table) +
                " arrived, which was not there when this connection was made",
            "nothing to do: the catalog is read again and the slot resends the rows"};
}

error too_large(const message& content, std::uint64_t size, std::uint64_t limit,
                const char* limit_name, const char* remedy) {
    return {errc::message_too_large,
            "the message of row id " + content.id + " (position " + to_string(content.where) +
                ", subject " + content.subject + ") has " + std::to_string(size) +
                " bytes with its headers, more than " + limit_name + " = " + std::to_string(limit),
            remedy};
}

}  // namespace

std::uint64_t wire_bytes(const message& content, std::string_view stream) {
    constexpr std::uint64_t frame = sizeof "NATS/1.0\r\n" - 1 + sizeof "\r\n" - 1;
    constexpr std::uint64_t around = sizeof ": \r\n" - 1;
    constexpr std::uint64_t sequence_digits = 20;
    std::uint64_t total = frame + content.body.size();
    total += sizeof "Nats-Msg-Id" - 1 + around + content.id.size();
    total += sizeof "Nats-Expected-Stream" - 1 + around + stream.size();
    total += sizeof "Nats-Expected-Last-Sequence" - 1 + around + sequence_digits;
    for (std::size_t index = 0; index < content.header_count(); ++index) {
        const auto& each = content.header_at(index);
        total += each.name.size() + around + each.value.size();
    }
    return total;
}

intake::intake(std::vector<outbox::table_mapper> mappers, std::string stream)
    : mappers_(std::move(mappers)), stream_(std::move(stream)) {}

std::vector<table_name> intake::begin_stream(history origin, table_catalog catalog,
                                             output_plugin plugin) {
    origin_ = origin;
    catalog_ = std::move(catalog);
    std::vector<table_name> settled;
    for (const auto& name : asked_) {
        if (catalog_.find(name).what == table_catalog::answer::kind::unknown) {
            catalog_.settle_as_other(name);
            settled.push_back(name);
        }
    }
    for (auto& mapper : mappers_) {
        mapper.set_domains(catalog_.domains());
    }
    decoder_ = wal::make_decoder(plugin);
    transaction_.reset();
    last_revision_ = 0;
    return settled;
}

result<frame_read> intake::read(std::string_view frame, lane& into) {
    const auto parsed = wal::parse_frame(frame);
    if (!parsed) {
        return parsed.error();
    }
    if (const auto* const alive = std::get_if<wal::keepalive>(&*parsed)) {
        return frame_read{{}, *alive, alive->end};
    }
    return take(std::get<wal::xlog_data>(*parsed), into);
}

result<frame_read> intake::take(const wal::xlog_data& data, lane& into) {
    WALRELAY_ASSERT(decoder_ != nullptr);
    const auto decoded = decoder_->decode(data.payload);
    if (!decoded) {
        error failure = decoded.error();
        failure.what = "at LSN " + to_string(data.start) + ": " + failure.what;
        return failure;
    }
    frame_read done{{}, {}, data.start};
    if (const auto* const begin = std::get_if<transaction_begin>(&*decoded)) {
        transaction_ = open_transaction{*begin, 0, {}};
    } else if (const auto* const row = std::get_if<row_insert>(&*decoded)) {
        const auto taken = take(*row, into);
        if (!taken) {
            return taken.error();
        }
    } else if (const auto* const commit = std::get_if<transaction_commit>(&*decoded)) {
        done.ended = {transaction_->last_event, commit->end};
        transaction_.reset();
    }
    return done;
}

result<void> intake::take(const row_insert& row, lane& into) {
    WALRELAY_ASSERT(transaction_.has_value());
    const auto owner = whose(*row.table);
    if (!owner) {
        return owner.error();
    }
    if (owner->what != table_catalog::answer::kind::outbox) {
        return {};
    }
    const commit_position here{transaction_->begin.commit, transaction_->next_ordinal};
    if (!into.covers(here)) {
        message& filled = into.vacancy();
        filled.where = {origin_, here};
        filled.committed_at = transaction_->begin.committed_at;
        if (auto mapped = mappers_[owner->index].map(row, filled); !mapped) {
            return mapped.error();
        }
        if (auto fits = check_size(filled); !fits) {
            return fits.error();
        }
        into.admit();
    }
    transaction_->last_event = here;
    ++transaction_->next_ordinal;
    return {};
}

result<table_catalog::answer> intake::whose(const relation& table) {
    if (table.revision == last_revision_) {
        return last_answer_;
    }
    table_name name{table.schema, table.name};
    const auto found = catalog_.find(name);
    if (found.what == table_catalog::answer::kind::unknown) {
        asked_.insert(name);
        return unknown_table(name);
    }
    last_revision_ = table.revision;
    last_answer_ = found;
    return found;
}

result<void> intake::check_size(const message& candidate) const {
    const auto size = wire_bytes(candidate, stream_);
    if (limits_.max_payload_bytes != 0 && size > limits_.max_payload_bytes) {
        return too_large(candidate, size, limits_.max_payload_bytes, "the broker's max_payload",
                         "raise max_payload in nats-server.conf and reload it, then start again");
    }
    if (limits_.max_message_bytes >= 0 &&
        size > static_cast<std::uint64_t>(limits_.max_message_bytes)) {
        return too_large(candidate, size, static_cast<std::uint64_t>(limits_.max_message_bytes),
                         "the stream's max_msg_size",
                         "raise it with `nats stream edit --max-msg-size`, then start again");
    }
    return {};
}

}  // namespace walrelay::relay
