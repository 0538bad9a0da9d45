# shellcheck shell=bash
# Programs in the background of a test.

# end_children [SIGNAL]: ends the children of the test's shell that still run. The pid of a child that ended may
# be another program's by now.
end_children() {
    local running
    running=$(jobs -pr)
    # shellcheck disable=SC2086 # one or more
    [ -z "$running" ] || kill -s "${1:-TERM}" $running 2>/dev/null || true
}
