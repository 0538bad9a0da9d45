#!/usr/bin/env bats
# camp view: messages, and answers to attacks (attack.py).

bats_require_minimum_version 1.5.0
load microstates

setup() {
    grep -qaF libmicrohttpd.so "$CAMP" || skip "camp was built without libmicrohttpd"
}

# attack NAME ARGUMENT...: runs an attack, and checks that all answers are right.
attack() {
    run timeout 120 /usr/bin/python3 "$BATS_TEST_DIRNAME/attack.py" "$CAMP" "$@"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "camp view refuses requests without the token or from other web pages" {
    attack rules --from cpus
    [ "${#lines[@]}" -ge 35 ]
}

@test "camp view still serves clients after invalid HTTP requests" {
    attack garbage --from cpus
}

@test "camp view serves a client while many idle connections are open" {
    attack crowd --from cpus --interval 50ms
}

@test "camp view refuses a stream above the maximum number until another stream ends" {
    attack streams --from cpus --interval 100ms
}

@test "camp view closes the connections of clients that vanish" {
    attack vanish --from cpus --interval 100ms
    attack vanish --from cpus --interval 60
}

@test "camp view sends a heartbeat each second during a long interval" {
    attack beats --from cpus --interval 60
}

need_causes() {
    find_refusal why --count 1 --interval 50ms
    need_states
}

@test "camp view --why sends the causes of each interval before its frame" {
    need_causes
    attack causes --why --interval 200ms
}

@test "SIGTERM ends camp view --why at once" {
    need_causes
    attack stop --why --interval 100ms
}

@test "camp view --why is refused with the message of camp why where causes are unavailable" {
    if REFUSAL=$("$CAMP" why --count 1 --interval 50ms 2>&1 >/dev/null); then
        [ "$(id -u)" -eq 0 ] || skip "this user can read causes"
        local drop=(setpriv "--bounding-set=-bpf,-perfmon,-sys_admin" "--inh-caps=-bpf,-perfmon,-sys_admin")
        REFUSAL=$("${drop[@]}" "$CAMP" why --count 1 --interval 50ms 2>&1 >/dev/null) && skip "causes need no capability here"
    fi
    run --separate-stderr timeout 60 "${drop[@]}" "$CAMP" view --why
    echo "$stderr"
    [ "$status" -ne 0 ]
    [ -z "$output" ]
    [ "${stderr/camp view:/camp why:}" = "$REFUSAL" ]
}

# make_table FRAMES ENTITIES: prints a table in which each row changes in each interval.
make_table() {
    awk -v frames="$1" -v entities="$2" 'BEGIN {
        print "time,entity,user_ms,disk_ms,idle_ms"
        for (f = 0; f < frames; f++)
            for (e = 0; e < entities; e++) {
                user = (f * 7 + e * 13) % 400
                print 1700000000 + f ",e" e "," user "," f % 300 "," 1000 - user - f % 300
            }
    }'
}

@test "camp view does not let a stalled client delay other clients" {
    make_table 500 1000 >"$BATS_TEST_TMPDIR/table.csv"
    attack stuck --from "$BATS_TEST_TMPDIR/table.csv" --speed 60 --history 20
}

@test "after its source has ended, camp view still sends all intervals to a new client" {
    make_table 200 10 >"$BATS_TEST_TMPDIR/table.csv"
    attack ended --from "$BATS_TEST_TMPDIR/table.csv"
    [[ $output == *"200 frames, 'this is all there is'"* ]]
}

@test "SIGTERM ends camp view at once, after camp view has notified its clients" {
    attack stop --from cpus --interval 100ms
}

@test "camp view reports that another program uses its port" {
    attack taken --from cpus
}

@test "camp view creates its Unix socket with mode 600" {
    local path=$BATS_TEST_TMPDIR/socket
    attack rules --from cpus --socket "$path"
    [ ! -e "$path" ]
    "$CAMP" view --from cpus --socket "$path" >"$BATS_TEST_TMPDIR/out" 3>&- &
    local pid=$!
    for _ in $(seq 50); do [ -s "$BATS_TEST_TMPDIR/out" ] && break; sleep 0.1; done
    grep -Eq '^http://localhost:8080/#[0-9a-f]{32}$' "$BATS_TEST_TMPDIR/out"
    grep -q "ssh -N -L 8080:$path " "$BATS_TEST_TMPDIR/out"
    [ "$(stat -c %a "$path")" = 600 ]
    run "$CAMP" view --from cpus --socket "$path"
    [ "$status" -eq 1 ]
    [[ $output == *"another program listens at "* ]]
    kill -KILL "$pid"
    wait "$pid" || true
    attack stop --from cpus --socket "$path" # the socket that another server left is replaced
    echo text >"$path"
    run "$CAMP" view --from cpus --socket "$path"
    [ "$status" -eq 1 ]
    [ "$(cat "$path")" = text ]
}

@test "in an ssh session, camp view prints the command for an ssh tunnel" {
    SSH_CONNECTION="1 2 3 4" "$CAMP" view --from cpus >"$BATS_TEST_TMPDIR/out" 3>&- &
    local pid=$!
    for _ in $(seq 50); do [ "$(wc -l <"$BATS_TEST_TMPDIR/out")" -ge 2 ] && break; sleep 0.1; done
    kill "$pid"
    wait "$pid"
    [[ $(cat "$BATS_TEST_TMPDIR/out") =~ http://127.0.0.1:([0-9]+)/ ]]
    local port=${BASH_REMATCH[1]}
    grep -q "^from your own computer: ssh -N -L $port:127.0.0.1:$port " "$BATS_TEST_TMPDIR/out"
}

@test "camp view reports wrong arguments as usage errors in one line" {
    refuse() {
        local expected=$1
        shift
        run --separate-stderr timeout 20 "$CAMP" view "$@"
        echo "$stderr"
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "camp view: "*"$expected"* ]]
    }
    refuse 'use ssh -L' --from cpus --host 0.0.0.0
    refuse 'use ssh -L' --from cpus --host example.org
    refuse 'goes without --port' --from cpus --socket x --port 8080
    refuse 'goes without --host' --from cpus --socket x --host localhost
    refuse '--port' --from cpus --port 65536
    refuse 'a time such as 10m' --from cpus --history soon
    refuse 'a time such as 10m' --from cpus --history 0
    refuse 'no such state' --from cpus --axes 'A=x; B=y; C=z'
    refuse '--axes takes 3 vertices, not 4' --from cpus --axes 'A=user; B=idle; C=system; D=irq'
    refuse '--axes4 takes 4 vertices, not 3' --from cpus --axes4 'A=user; B=idle; C=irq'
    refuse "'more' is not a time: the operands of camp view are [INTERVAL]" --from cpus more
    refuse 'there is no source' --from nothing
    refuse '--why is of the threads of this machine: it goes with --from threads, ' --why --demo
    refuse 'or cpus, not with --from x.csv' --why --from x.csv
    refuse 'must have 1 to 107 bytes' --from cpus --socket "$(printf 'a%.0s' {1..200})"
}
