# Compiles the sources of a folder some at a time, as if they were one file: most of compiling is
# reading headers and making code of templates, which is then done once for all of them. The release
# preset does this. Those with which people work do not: there each source shows that it includes
# what it uses, and a change compiles one source. The sanitizers' preset makes one file of all that
# become one library, and so shows that no name stands in another's way.
option(WALRELAY_UNITY "Compile the sources of src some at a time" OFF)
set(WALRELAY_UNITY_FILES 16 CACHE STRING "How many at a time; 0: all that become one library")

# For the folder from which it is called and those below.
macro(walrelay_unite)
    if(WALRELAY_UNITY)
        set(CMAKE_UNITY_BUILD ON)
        set(CMAKE_UNITY_BUILD_BATCH_SIZE ${WALRELAY_UNITY_FILES})
    endif()
endmacro()
