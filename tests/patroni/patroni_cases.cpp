// See patroni_cases.hpp.
#include "patroni/patroni_cases.hpp"

#include "support/eventually.hpp"

namespace walrelay::patroni {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t some_commits = 200;

/// Its duration is part of the fault, not a wait for anything.
void pass(std::chrono::milliseconds duration) {
    (void)test::eventually(duration, [] { return false; });
}

void repeat(patroni_trial& one, const std::function<void(patroni_trial&)>& fault) {
    for (unsigned round = 0; round < one.options().rounds; ++round) {
        fault(one);
        one.wait_for_commits(some_commits);
        one.cluster().wait_for_standbys();
        if (!one.options().cluster.without_copies) {
            one.cluster().wait_for_copies();
        }
    }
}

void switch_over(patroni_trial& one) {
    one.cluster().switch_over();
}

/// Returns the node that is gone.
patroni_node& kill_leader(patroni_trial& one) {
    auto& gone = one.cluster().leader();
    gone.kill_patroni();
    gone.kill_postgres();
    return gone;
}

void kill_node(patroni_trial& one) {
    auto& gone = kill_leader(one);
    (void)one.cluster().leader();
    one.wait_for_commits(some_commits);
    gone.start();
}

void kill_patroni(patroni_trial& one) {
    auto& leader = one.cluster().leader();
    leader.kill_patroni();
    pass(3s);
    leader.start();
}

void kill_postgres(patroni_trial& one) {
    one.cluster().leader().kill_postgres();
    one.wait_for_commits(some_commits);
}

/// Longer than the leader's lock lasts: it steps down, and nobody leads until etcd is back.
void take_etcd_away(patroni_trial& one) {
    one.cluster().kill_etcd();
    pass(30s);
    one.cluster().start_etcd();
    (void)one.cluster().leader();
}

/// The slot is made Patroni's when its server is gone: no standby can copy it, and the one that is
/// promoted makes it where its WAL ends.
void promote_without_copy(patroni_trial& one) {
    auto& gone = kill_leader(one);
    if (!one.options().cluster.failover_slots) {
        one.cluster().keep_slot();
    }
    (void)one.cluster().leader();
    one.wait_for_commits(some_commits);
    gone.start();
}

void promote_without_copy_and_relay(patroni_trial& one) {
    one.stop_relays();
    one.wait_for_commits(some_commits);
    promote_without_copy(one);
    one.wait_for_commits(some_commits);
    one.start_relays();
}

/// Where its copy begins, transactions are under way: until they and those after them have ended,
/// nothing that was committed is sent. So the broker is away, rows wait in the slot, and the copies
/// are new: their servers have not decoded anything yet.
void promote_copy_that_is_not_consistent(patroni_trial& one) {
    one.start_long_transactions();
    one.wait_for_commits(some_commits);
    repeat(one, [](patroni_trial& each) {
        each.broker().kill_9();
        each.wait_for_commits(some_commits);
        each.cluster().drop_copies();
        each.cluster().wait_for_copies();
        kill_node(each);
        each.broker().start();
    });
}

}  // namespace

std::vector<patroni_case> all_cases() {
    return {
        {.name = "switchover",
         .what = "planned switchovers, each standby has a copy of the slot",
         .fire = [](patroni_trial& one) { repeat(one, switch_over); }},
        {.name = "kill_node",
         .what = "kill -9 of the leader's PostgreSQL and Patroni; a standby is promoted",
         .fire = [](patroni_trial& one) { repeat(one, kill_node); }},
        {.name = "kill_patroni",
         .what = "kill -9 of the leader's Patroni, which is started again",
         .fire = [](patroni_trial& one) { repeat(one, kill_patroni); }},
        {.name = "kill_postgres",
         .what = "kill -9 of the leader's PostgreSQL; Patroni decides",
         .fire = [](patroni_trial& one) { repeat(one, kill_postgres); }},
        {.name = "etcd_away",
         .what = "etcd is away for longer than the leader's lock lasts",
         .fire = [](patroni_trial& one) { repeat(one, take_etcd_away); }},
        {.name = "no_copy",
         .what = "a standby without a copy of the slot is promoted while relays run",
         .fire = promote_without_copy,
         .without_copies = true},
        {.name = "no_copy_relay_away",
         .what = "the same, and the relays are started when Patroni has made the slot",
         .fire = promote_without_copy_and_relay,
         .without_copies = true},
        {.name = "copy_not_consistent",
         .what = "the standby that is promoted has a copy whose beginning lies in transactions",
         .fire = promote_copy_that_is_not_consistent,
         .only_before_17 = true},
    };
}

}  // namespace walrelay::patroni
