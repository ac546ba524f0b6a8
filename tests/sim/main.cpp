// The program walrelay_sim: see walrelay_sim.hpp.
#include "sim/walrelay_sim.hpp"

int main(int argc, char** argv) {
    return walrelay::sim::run(argc, argv);
}
