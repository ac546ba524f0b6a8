# Every library that walrelay uses. All of them are Debian packages; `./dev` installs them and lists
# their names. A library that is missing stops the configuration here, by name.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Boost 1.81 REQUIRED CONFIG COMPONENTS url)
find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Protobuf REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(PostgreSQL REQUIRED)
# Found by pkg-config, which knows nats.c in every Debian.
pkg_check_modules(nats REQUIRED IMPORTED_TARGET libnats)
if(WALRELAY_TESTS)
    # Of the mail consumer in examples/memo.
    find_package(CURL REQUIRED)
    find_package(GTest REQUIRED)
endif()
if(WALRELAY_BENCHMARKS)
    find_package(benchmark REQUIRED)
endif()
