// walrelay with the control group that a folder describes: its first argument stands before /proc
// and /sys, the others are the program's own.
#include "app/program.hpp"

int main(int argc, char** argv) {
    const char* const root = argv[1];
    argv[1] = argv[0];
    return walrelay::app::run_program(argc - 1, argv + 1, root);
}
