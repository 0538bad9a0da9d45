# shellcheck shell=bash
# Functions for the tests of camp check.

# json EXPRESSION: evaluates Python on `records`, the objects of $output, and on `r`, the last.
json() {
    python3 -c "
import json, sys
records = [json.loads(line) for line in sys.stdin.read().splitlines()]
r = records[-1]
ok = $1
if not ok: print(json.dumps(r, indent=1)[:4000])
sys.exit(0 if ok else 1)" <<<"$output"
}

as_nobody() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    else
        "$@"
    fi
}

# Copies camp to a folder where an ordinary user may run it.
public_camp() {
    cp "$CAMP" "$BATS_TEST_TMPDIR/camp"
    chmod 755 "$BATS_TEST_TMPDIR/camp"
    for folder in "$BATS_TEST_TMPDIR" "$BATS_SUITE_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"; do
        [ ! -d "$folder" ] || chmod o+x "$folder"
    done
}

# Also accepts status 3: another test may start so many processes that the kernel drops exit records.
# The output has the number of dropped records.
was_shown() {
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
}
