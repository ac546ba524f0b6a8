// walrelay: from PostgreSQL's WAL to NATS JetStream.

#include "app/exit_code.hpp"
#include "app/program.hpp"

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

}  // namespace

int main(int argc, char** argv) {
    try {
        return walrelay::app::run_program(argc, argv);
    } catch (const std::bad_alloc&) {
        return end_because_of("there is no memory left");
    } catch (const std::exception& unforeseen) {
        return end_because_of(unforeseen.what());
    }
}
