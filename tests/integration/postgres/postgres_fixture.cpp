#include "postgres_fixture.hpp"

#include "support/eventually.hpp"

namespace walrelay::test {
namespace {

using namespace std::chrono_literals;

postgres_server& shared_server() {
    static postgres_server shared;
    return shared;
}

std::string unique_slot() {
    static int count = 0;
    return "adapter_" + std::to_string(++count);
}

}  // namespace

postgres_fixture::postgres_fixture() : slot_(unique_slot()), server_(&shared_server()) {
    open_database();
}

postgres_fixture::~postgres_fixture() {
    if (!own_server_.has_value()) {
        drop_slots();
    }
}

void postgres_fixture::open_database() {
    database_ = server_->fresh_database();
    writer_.emplace(server_->conninfo(database_));
    writer_->execute("CREATE TABLE public.events (id bigint, body text)");
}

void postgres_fixture::use_own_server(const postgres_options& options) {
    server_ = &own_server_.emplace(options);
    open_database();
}

void postgres_fixture::drop_slots() {
    // A walsender lets go of its slot a moment after its connection ended.
    const auto gone = [this] {
        writer_->execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots "
            "WHERE database = current_database() AND NOT active");
        return writer_->value_of(
                   "SELECT count(*) FROM pg_replication_slots "
                   "WHERE database = current_database()") == "0";
    };
    EXPECT_TRUE(eventually(10s, gone));
}

void postgres_fixture::run_until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + 1min;
    context_.restart();
    while (!done() && std::chrono::steady_clock::now() < deadline) {
        context_.run_one_until(deadline);
    }
    EXPECT_TRUE(done());
}

postgres::connect_options postgres_fixture::options(postgres::connection_kind kind) const {
    return {.conninfo = server_->conninfo(database_), .kind = kind, .timeout = 20s};
}

postgres::connection postgres_fixture::connect(postgres::connection_kind kind) {
    auto opened = run(postgres::connection::open(context_.get_executor(), options(kind)));
    if (opened.has_error()) {
        throw std::runtime_error(to_string(opened.error()));
    }
    return std::move(*opened);
}

result<postgres::replication_stream> postgres_fixture::try_stream(postgres::start_options from) {
    auto opened = connect(postgres::connection_kind::replication);
    return run(postgres::replication_stream::start(std::move(opened), std::move(from)));
}

postgres::replication_stream postgres_fixture::stream(const postgres::start_options& from) {
    auto started = try_stream(from);
    if (started.has_error()) {
        throw std::runtime_error(to_string(started.error()));
    }
    return std::move(*started);
}

std::string postgres_fixture::frame_with(postgres::replication_stream& from,
                                         const std::string& wanted) {
    for (;;) {
        const auto frame = from.next_frame();
        if (frame.has_error()) {
            throw std::runtime_error(to_string(frame.error()));
        }
        if (!frame->has_value()) {
            (void)run(from.wait_readable());
            continue;
        }
        if ((*frame)->find(wanted) != std::string_view::npos) {
            return std::string{**frame};
        }
    }
}

error postgres_fixture::end_of(postgres::replication_stream& of) {
    for (;;) {
        const auto frame = of.next_frame();
        if (frame.has_error()) {
            return frame.error();
        }
        if (!frame->has_value()) {
            (void)run(of.wait_readable());
        }
    }
}

postgres::start_options postgres_fixture::make_slot(output_plugin plugin) {
    writer_->execute("CREATE PUBLICATION " + publication_ +
                     " FOR TABLE public.events WITH (publish = 'insert')");
    writer_->execute("SELECT pg_create_logical_replication_slot(" + as_literal(slot_) + ", '" +
                     std::string{to_string(plugin)} + "')");
    return {.slot = slot_, .plugin = plugin, .publication = publication_, .add_tables = {}};
}

}  // namespace walrelay::test
