# shellcheck shell=bash
# Functions for the tests of camp record.

ask() {
    sqlite3 -readonly "$@"
}

# Starts camp record in the background, until it is killed.
start_recorder() {
    "$CAMP" record --from check "$@" >recorder.out 2>&1 3>&- &
    RECORDER=$!
}

has_ticks() {
    [ "$(ask "$1" 'SELECT count(*) FROM tick')" -ge "$2" ]
}

# wait_for_ticks FILE COUNT
wait_for_ticks() {
    until_it has_ticks "$@" || {
        cat recorder.out
        return 1
    }
}

# make_table COUNT MS: writes data.csv with COUNT intervals of MS ms of three entities.
make_table() {
    seq "$1" | awk -v length_ms="$2" 'BEGIN { print "time,name,run_ms,wait_ms,sleep_ms" }
        { for (i = 0; i < 3; i++)
            printf "%.3f,p%d,%d,1,%d\n", 1700000000 + $1 * length_ms / 1000, i, $1 % length_ms,
                length_ms - $1 % length_ms - 1 }' >data.csv
}
