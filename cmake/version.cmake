# Which state of the source this is: the commit, with `-changed` after it where files differ. Given
# by who builds from an archive (-DWALRELAY_COMMIT=...), else asked of git at each configuration,
# and so at the first build after a commit. Empty where neither knows.
set(WALRELAY_COMMIT "" CACHE STRING "The commit that is built; empty: git is asked")

function(walrelay_find_commit result)
    set(${result} "${WALRELAY_COMMIT}" PARENT_SCOPE)
    if(WALRELAY_COMMIT OR NOT EXISTS ${PROJECT_SOURCE_DIR}/.git)
        return()
    endif()
    find_package(Git QUIET)
    if(NOT GIT_FOUND)
        return()
    endif()
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short=12 HEAD
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${GIT_EXECUTABLE} diff-index --quiet HEAD --
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} RESULT_VARIABLE differs ERROR_QUIET)
    if(commit AND differs)
        string(APPEND commit -changed)
    endif()
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --path-format=absolute --git-path logs/HEAD
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
        OUTPUT_VARIABLE moves OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(EXISTS "${moves}")
        set_property(DIRECTORY ${PROJECT_SOURCE_DIR}
            APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${moves})
    endif()
    set(${result} "${commit}" PARENT_SCOPE)
endfunction()
