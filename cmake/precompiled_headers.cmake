# Headers that most sources read, read once for each target: a third of the compiling is parsing
# them. Only builds for tests do this; the release build reads what each file includes itself, and
# so finds an include that is missing.
option(WALRELAY_PRECOMPILE "Precompile the headers that most sources include" OFF)

set(walrelay_precompiled_std
    <algorithm> <array> <charconv> <chrono> <cstddef> <cstdint> <deque> <functional> <map> <memory>
    <optional> <set> <span> <stdexcept> <string> <string_view> <unordered_map> <utility> <variant>
    <vector>)
set(walrelay_precompiled_asio
    <boost/asio/any_io_executor.hpp> <boost/asio/as_tuple.hpp> <boost/asio/awaitable.hpp>
    <boost/asio/co_spawn.hpp> <boost/asio/steady_timer.hpp> <boost/asio/use_awaitable.hpp>)
set(walrelay_precompiled_gtest <gtest/gtest.h> <gmock/gmock.h>)

# walrelay_precompile(target [asio] [gtest])
function(walrelay_precompile target)
    if(NOT WALRELAY_PRECOMPILE)
        return()
    endif()
    set(headers ${walrelay_precompiled_std})
    foreach(more IN LISTS ARGN)
        list(APPEND headers ${walrelay_precompiled_${more}})
    endforeach()
    target_precompile_headers(${target} PRIVATE ${headers})
endfunction()

# Takes what was precompiled for another target; the flags of both must be the same.
function(walrelay_precompiled_of target other)
    if(WALRELAY_PRECOMPILE)
        target_precompile_headers(${target} REUSE_FROM ${other})
    endif()
endfunction()
