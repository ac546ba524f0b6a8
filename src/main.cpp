// walrelay: from PostgreSQL's WAL to NATS JetStream.

#include "app/exit_code.hpp"
#include "app/program.hpp"

#include <malloc.h>

#include <sys/prctl.h>

#include <cstdio>
#include <exception>
#include <new>

namespace {

int end_because_of(const char* what) {
    std::fprintf(stderr,
                 "walrelay: %s; it ends here. A relay goes on where it was when it is started "
                 "again\n",
                 what);
    return walrelay::app::exit_failed;
}

/// A dump would hold passwords and rows. Other processes of the same user may not read this one's
/// memory any more, either: PR_SET_DUMPABLE in prctl(2). RLIMIT_CORE alone does not bind a pipe in
/// core_pattern, see core(5).
void forbid_core_dumps() {
    prctl(PR_SET_DUMPABLE, 0);
}

/// Rows pass through one thread. The others ask a server now and then, and have one heap together;
/// by itself each of them had its own: mallopt(3), M_ARENA_MAX.
void share_one_heap() {
    mallopt(M_ARENA_MAX, 2);
}

}  // namespace

int main(int argc, char** argv) {
    forbid_core_dumps();
    share_one_heap();
    try {
        return walrelay::app::run_program(argc, argv);
    } catch (const std::bad_alloc&) {
        return end_because_of("there is no memory left");
    } catch (const std::exception& unforeseen) {
        return end_because_of(unforeseen.what());
    }
}
