#!/usr/bin/env bats
# camp export: its numbers, which clients it answers, and that the numbers add up (export.py is the scraper).

bats_require_minimum_version 1.5.0
load ../waiting

setup_file() {
    export CAMP=${CAMP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/gcc/src/camp}
}

# scrape NAME ARGUMENT...: runs the test NAME of export.py, which must pass.
scrape() {
    grep -qaF libmicrohttpd.so "$CAMP" || skip "camp was built without libmicrohttpd"
    run timeout 120 /usr/bin/python3 "$BATS_TEST_DIRNAME/export.py" "$CAMP" "$@"
    echo "$output"
    [ "$status" -eq 77 ] && skip "$output"
    [ "$status" -eq 0 ]
}

@test "export: both formats parse, and have the same numbers" {
    scrape formats
    scrape formats --tier schedstat
}

@test "export: current and former groups add up to all threads, and no counter decreases" {
    scrape laws
}

@test "export: both scrapers of one exporter get correct counters" {
    scrape two
}

# bats test_tags=law
@test "export: a busy program has the same numbers as in camp top" {
    scrape top
}

@test "export: requests for unknown targets, from other pages or to another host name are refused" {
    scrape rules
}

@test "export: a scraper is answered while many idle connections are open" {
    scrape crowd
}

@test "export: names with special characters are escaped and stay different" {
    scrape hostile
}

@test "export: SIGHUP reloads the rules, and keeps the old ones when the new ones are wrong" {
    scrape rules_again "$BATS_TEST_TMPDIR/rules"
}

@test "export: SIGTERM and SIGINT end the command at once" {
    scrape stop
}

@test "export: --once prints one page, in both formats" {
    run --separate-stderr "$CAMP" export --once --interval 100ms --tier schedstat
    [ "$status" -eq 0 ]
    promtool check metrics <<<"$output"
    [[ $output != *camp_task_state_seconds* ]]
    [[ $output == *'camp_cpu_measured_seconds_total{mode="busy"}'* ]]
    run --separate-stderr "$CAMP" export --once --interval 100ms --tier schedstat --format openmetrics
    [ "${lines[-1]}" = "# EOF" ]
}

@test "export: a full disk is reported" {
    run "$CAMP" export --once --interval 10ms --tier schedstat >/dev/null
    run bash -c '"$CAMP" export --once --interval 10ms --tier schedstat >/dev/full'
    [ "$status" -eq 1 ]
    [[ $output == *"cannot write the output"* ]]
}

@test "export: only this computer may connect by default" {
    run "$CAMP" export --host 0.0.0.0 --port 0
    [ "$status" -eq 2 ]
    [[ $output == *"--allow-remote"* ]]
    run "$CAMP" export --host somewhere
    [ "$status" -eq 2 ]
}

@test "export: an address of another computer is refused, with --remote or without" {
    local wrong
    for wrong in foo.bar 192.0.2.1; do
        run timeout 60 "$CAMP" export --host $wrong --port 0
        if [ $wrong = foo.bar ]; then [ "$status" -eq 2 ]; else [ "$status" -eq 1 ]; fi
        [[ $output == *"$wrong"*" address"* ]] && [[ $output != *"--allow-remote"* ]]
    done
}

@test "export: a port in use and a missing folder are reported with advice" {
    scrape taken
    run timeout 60 "$CAMP" export --tier schedstat --socket "$BATS_TEST_TMPDIR/none/x"
    [ "$status" -eq 1 ]
    [[ $output == *"a socket needs an existing folder"* ]]
}

@test "export: a Unix socket is private to the user, and removed at exit" {
    grep -qaF libmicrohttpd.so "$CAMP" || skip "camp was built without libmicrohttpd"
    local path=$BATS_TEST_TMPDIR/socket
    "$CAMP" export --tier schedstat --socket "$path" >"$BATS_TEST_TMPDIR/out" 3>&- &
    local pid=$!
    until_it test -s "$BATS_TEST_TMPDIR/out"
    [ "$(cat "$BATS_TEST_TMPDIR/out")" = "unix:$path" ]
    [ "$(stat -c %a "$path")" = 600 ]
    curl -sf --unix-socket "$path" http://localhost/metrics | grep -q '^camp_cpus '
    kill "$pid"
    wait "$pid"
    [ ! -e "$path" ]
}

@test "export: conflicting options are refused" {
    local wrong
    for wrong in '--once --port 1' '--socket x --port 1' '--socket x --allow-remote' '--format openmetrics' '--interval 1s' \
        '--group workload' '--group user --workload /dev/null' '--tier none' 'word' \
        '--tier schedstat --group user'; do
        # shellcheck disable=SC2086
        run timeout 60 "$CAMP" export $wrong
        echo "$wrong: $status $output"
        [ "$status" -eq 2 ] || [ "$status" -eq 4 ]
        [ "${#lines[@]}" -eq 1 ]
    done
}

@test "export: without capabilities the command reports what is missing, and continues" {
    [ "$(id -u)" -eq 0 ] || skip "needs root, to take capabilities away"
    cp "$CAMP" "$BATS_TEST_TMPDIR/camp"
    chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/camp"
    run --separate-stderr setpriv --reuid=65534 --clear-groups --bounding-set=-all \
        --inh-caps=-all "$BATS_TEST_TMPDIR/camp" export --once --interval 100ms
    echo "$stderr"
    [ "$status" -eq 0 ]
    [[ $stderr == *"tier schedstat"*"CAP_BPF"* ]]
    [[ $output == *'tier="schedstat"'* ]]
    # The message is complete, including its advice.
    run setpriv --reuid=65534 --clear-groups --bounding-set=-all --inh-caps=-all \
        "$BATS_TEST_TMPDIR/camp" export --once --group user
    echo "$output"
    [ "$status" -eq 4 ]
    [[ $output != *...* ]] && [[ $output == *": run as root, or see camp doctor" ]]
}

@test "export: camp-exporter prints its version" {
    run "$(dirname "$CAMP")/camp-exporter" --version
    [ "$status" -eq 0 ]
    [ "$output" = "$("$CAMP" --version | sed 's/^camp /camp-exporter /')" ]
}

# In a pid namespace the kernel lists threads in the order of their pids in that namespace.
@test "export: in a pid namespace, a new process with a lower pid than older processes is accounted once" {
    [ "$(id -u)" -eq 0 ] || skip "takes root"
    local page=$BATS_TEST_TMPDIR/page

    run timeout 120 unshare --pid --fork --mount-proc sh -c '
        a_sleeper() {
            sleep 600 &
            until grep -q nanosleep /proc/$!/wchan; do sleep 0.05; done
        }
        echo 20000 >/proc/sys/kernel/ns_last_pid || exit 77
        a_sleeper
        echo 100 >/proc/sys/kernel/ns_last_pid
        a_sleeper
        "$0" export --tier bpf --once -i 0.2 >"$1"
        exit $?' "$CAMP" "$page" 3>&-
    echo "$output"
    [ "$status" -ne 77 ] || skip "no ns_last_pid here"
    [ "$status" -ne 1 ] && [ "$status" -ne 4 ] || skip "no BPF here"
    [ "$status" -eq 0 ]
    grep -E "^camp_(threads|processes)" "$page"
    grep -qx "camp_threads 4" "$page" # the shell, two sleeping processes, and camp
    awk '/groupname="sleep",state="timer"/ { asleep = $2 } END { exit !(asleep > 0.38) }' "$page"
}
