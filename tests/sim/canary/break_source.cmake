# Copies a source of src/relay with one line broken, for a canary: a relay that the simulation must
# catch. The defect is made from the source of the day, so that a canary never falls behind it.
#
#     cmake -D SOURCE=<file> -D TARGET=<file> -D FROM=<text> -D TO=<text> -P break_source.cmake
#
# Where the text is not found the build ends: choose another line.
file(READ "${SOURCE}" text)
string(FIND "${text}" "${FROM}" found)
if(found EQUAL -1)
    message(FATAL_ERROR "canary: '${FROM}' is not in ${SOURCE}: choose another line to break in "
                    "tests/sim/CMakeLists.txt")
endif()
string(REPLACE "${FROM}" "${TO}" text "${text}")
file(WRITE "${TARGET}" "${text}")
