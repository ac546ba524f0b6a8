# What makes a defect in memory harder to use, for everything that becomes the program: the flags of
# Debian's hardening=+all, and glibc's checks (those of libstdc++ are in compile_options).
# docs/performance.md says what it costs, which -DWALRELAY_HARDENED=OFF is for. Sanitizers bring
# their own.

# For the folder from which it is called and those below.
macro(walrelay_harden)
    if(WALRELAY_HARDENED AND NOT WALRELAY_SANITIZE)
        add_compile_options(-fstack-protector-strong -fstack-clash-protection -fPIE)
        # Needs optimization.
        add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
        if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
            add_compile_options(-fcf-protection=full)
        endif()
        add_link_options(-pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
    endif()
endmacro()
