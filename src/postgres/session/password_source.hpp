// Where a password comes from that does not stand in the conninfo: a file or the output of a
// command, asked at each connect, so that one that lives for minutes is never old. Only for the
// .cpp files of this folder.
#pragma once

#include "core/error.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <string>

namespace walrelay::postgres {

/// The first line of the file, which `key` of the configuration names. Errors, all of which can
/// pass by themselves (postgres_unavailable): it cannot be read, it is no ordinary file, every user
/// of the machine can read it, or its first line is empty.
[[nodiscard]] result<std::string> read_password_file(
    const std::string& file, const std::string& key = "postgres.password_file");

/// The first line that the command, run by /bin/sh, writes on its standard output. It reads nothing
/// and is ended at the deadline; what it writes on standard error is not kept, as it may hold
/// secrets. Errors: postgres_unavailable where it fails, writes nothing, or is late.
[[nodiscard]] boost::asio::awaitable<result<std::string>> run_password_command(
    boost::asio::any_io_executor executor, std::string command,
    std::chrono::steady_clock::time_point deadline, std::string key = "postgres.password_command");

}  // namespace walrelay::postgres
