# Flags of every target of the project, as one interface target, and the optional speed-ups of the
# build: ccache and mold are used where they are installed, neither is needed.
add_library(walrelay_options INTERFACE)
target_include_directories(walrelay_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(walrelay_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
    -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wimplicit-fallthrough)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 takes the operators new and delete of Asio's coroutine frames for a mismatched pair.
    target_compile_options(walrelay_options INTERFACE -Wno-mismatched-new-delete)
endif()
# What these say of neighbours within one file is true of no source by itself.
target_compile_options(walrelay_options INTERFACE
    $<$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>:-Wno-shadow>
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wno-subobject-linkage>)
if(WALRELAY_WERROR)
    target_compile_options(walrelay_options INTERFACE -Werror)
endif()
# Also for tests and tools: what they share with the program must be the same.
if(WALRELAY_HARDENED)
    target_compile_definitions(walrelay_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(WALRELAY_SANITIZE)
    target_compile_options(walrelay_options INTERFACE
        -fsanitize=${WALRELAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(walrelay_options INTERFACE -fsanitize=${WALRELAY_SANITIZE})
endif()

find_program(WALRELAY_CCACHE ccache)
if(WALRELAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${WALRELAY_CCACHE})
endif()
find_program(WALRELAY_MOLD mold)
if(WALRELAY_MOLD AND NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    # Not where instructions are counted: they are other ones, by 1 %.
    target_link_options(walrelay_options INTERFACE
        $<$<NOT:$<BOOL:$<TARGET_PROPERTY:WALRELAY_COUNTED>>>:-fuse-ld=mold>)
endif()

# For the folders of tests whose own code needs no speed: half of compiling them is optimizing.
macro(walrelay_compile_fast)
    if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
        add_compile_options(-O0)
    endif()
endmacro()

# For the folders of src where rows are handed on at most: what is resident of a relay is its code
# more than anything else, and theirs is two thirds of it.
macro(walrelay_compile_small)
    if(CMAKE_BUILD_TYPE STREQUAL "Release")
        add_compile_options(-Os)
    endif()
endmacro()
