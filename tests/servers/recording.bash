# tests/servers/recording.bash: starts and ends camp record, and queries its files.
# Needs lib.bash and servers_begin; $CAMP is the program.
#
#   record_beside NAME OPTION...   records to $SERVERS/NAME.camp until end_recording; returns when the first
#                                  interval is written; sets RECORD_PID; stderr goes to $SERVERS/NAME.err
#   record_at_once NAME OPTION...  like record_beside, but returns at once
#   has_begun NAME                 waits until the first interval is written
#   end_recording NAME PID         ends a recording by SIGINT; fails if camp fails
#   ask NAME SQL                   queries a recording, which camp may still be writing
#   holds NAME SQL                 fails unless the answer to a query is 1
#   told NAME TEXT                 waits until camp has printed TEXT on stderr
# shellcheck shell=bash disable=SC2034 # the tests use RECORD_PID

record_beside() {
    record_at_once "$@"
    has_begun "$1"
}

record_at_once() {
    local name=$1
    shift
    "$CAMP" record --output "$SERVERS/$name.camp" "$@" >"$SERVERS/$name.out" 2>"$SERVERS/$name.err" 3>&- &
    RECORD_PID=$!
    SERVER_PIDS+=("$RECORD_PID")
}

has_begun() {
    until_it has_ticks "$1" 1 || {
        cat "$SERVERS/$1.err" >&2
        return 1
    }
}

has_ticks() {
    [ "$(ask "$1" 'select count(*) from tick')" -ge "$2" ]
}

# more_ticks NAME COUNT: waits until a recording has COUNT more intervals.
more_ticks() { more_ticks_of_each "$2" "$1"; }

# more_ticks_of_each COUNT NAME...: waits until each recording has COUNT more intervals.
more_ticks_of_each() {
    local count=$1 name
    local -A wanted
    shift
    for name; do wanted[$name]=$(($(ask "$name" 'select max(tick) from tick') + count)); done
    for name; do until_it has_ticks "$name" "${wanted[$name]}"; done
}

end_recording() {
    kill -INT "$2"
    wait "$2" || {
        cat "$SERVERS/$1.err" >&2
        return 1
    }
}

# 3>&- closes the descriptor of bats, because bats waits until no process has it open.
ask() {
    sqlite3 -readonly -cmd '.timeout 5000' "$SERVERS/$1.camp" "$2" 3>&-
}

holds() {
    local answer
    answer=$(ask "$1" "$2")
    [ "$answer" = 1 ] || {
        echo "does not hold of $1: $2: $answer" >&2
        return 1
    }
}

told() {
    until_it grep -q -- "$2" "$SERVERS/$1.err" || {
        echo "$1 told:" >&2
        cat "$SERVERS/$1.err" >&2
        return 1
    }
}

# Ends all recordings. RECORDINGS has "NAME PID" of each recording.
end_recordings() {
    local each
    # shellcheck disable=SC2086 # a name and a pid
    for each in "${RECORDINGS[@]}"; do end_recording $each; done
}

# A phase is saved as two times, because each recording has its intervals at other times.
phase_begins() { date +%s%N >"$SERVERS/$1.begin"; }
phase_ends() { date +%s%N >"$SERVERS/$1.end"; }

# during PHASE NAME APPLICATION CONDITION: CONDITION holds for the sums over the intervals of a session that are
# completely within PHASE.
during() {
    holds "$2" "select count(*) > 1 and ($4) $(of_phase "$1" "$3")" || {
        ask "$2" "select count(*), sum(elapsed_ns), sum(cpu_ns), sum(run_queue_ns), sum(unaccounted_ns)
            $(of_phase "$1" "$3")" >&2
        return 1
    }
}

# value_during PHASE NAME APPLICATION EXPRESSION: prints the value of EXPRESSION over the intervals of a session that
# are completely within PHASE.
value_during() {
    ask "$2" "select $4 $(of_phase "$1" "$3")"
}

of_phase() {
    echo "from postgres_every join entity using (entity)
        join tick using (tick) where application = '$2'
        and wall_clock_ns - (end_ns - start_ns) > $(cat "$SERVERS/$1.begin")
        and wall_clock_ns < $(cat "$SERVERS/$1.end")"
}

# by_chance P N: prints the largest accepted error of a share P that N samples estimate, as an expression of SQL. It is
# four standard errors, which are exceeded by chance once in 16,000 cases. It also has the share that N samples miss
# once in 16,000 cases: 9.7 / N, because ln 16,000 is 9.7.
by_chance() {
    echo "(4 * sqrt(1.0 * ($1) * (1 - ($1)) / ($2)) + 9.7 / ($2))"
}
