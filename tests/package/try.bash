# What the checks of packages and images have in common: each is a function that is tried by name. To
# be sourced. `log` is the file that takes the output of a check, which is shown when it fails.

passed=0
failed=0

# try <name> <function...>
try() {
    local name=$1 started=$SECONDS
    shift
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        echo "ok: $name, $((SECONDS - started)) s"
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        tail -n 60 "$log"
    fi
}

# expect <what> <command...>
expect() {
    local what=$1
    shift
    "$@" || { echo "expected: $what"; return 1; }
}

# Runs until it succeeds, for three minutes: these run beside compilers.
eventually() {
    local deadline=$((SECONDS + 180))
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < deadline)) || { echo "never: $*"; return 1; }
        read -rt 0.1 <> <(:) || true
    done
}

summary() {
    echo "$passed passed, $failed failed"
    ((failed == 0))
}
