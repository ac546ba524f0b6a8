// walrelay: from PostgreSQL's WAL to NATS JetStream.

#include "app/program.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
    try {
        return walrelay::app::run_program(argc, argv);
    } catch (const std::exception& unforeseen) {
        std::fprintf(stderr, "walrelay: %s; stopping, the slot keeps the data\n",
                     unforeseen.what());
        return 3;
    }
}
