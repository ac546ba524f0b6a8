# Flags of every target of the project, as one interface target.
add_library(walrelay_options INTERFACE)
target_compile_options(walrelay_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
    -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wnull-dereference -Wimplicit-fallthrough)
if(WALRELAY_WERROR)
    target_compile_options(walrelay_options INTERFACE -Werror)
endif()
if(WALRELAY_SANITIZE)
    target_compile_options(walrelay_options INTERFACE
        -fsanitize=${WALRELAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(walrelay_options INTERFACE -fsanitize=${WALRELAY_SANITIZE})
endif()
target_include_directories(walrelay_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
