# shellcheck shell=bash
# Ends the programs that a test started in the background.

# end_children [SIGNAL]: ends the children of the test's shell that still run. Pids of ended children are not
# used, because another program may have such a pid.
end_children() {
    local running
    running=$(jobs -pr)
    # shellcheck disable=SC2086 # one or more
    [ -z "$running" ] || kill -s "${1:-TERM}" $running 2>/dev/null || true
}
