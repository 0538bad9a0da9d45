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

@test "camp export has the same numbers in the Prometheus format and in the OpenMetrics format" {
    scrape both_formats_have_the_same_numbers
    scrape both_formats_have_the_same_numbers --tier schedstat
}

@test "camp export: the times of all groups add up to the time of all threads" {
    scrape the_groups_add_up_to_all_threads
}

# bats test_tags=deep
@test "camp export --new-groups limits how many names get series" {
    scrape names_that_change_have_few_series --groups 12 --new-groups 3
}

# bats test_tags=deep
@test "camp export: commands that change their names all the time have few series" {
    scrape names_that_change_have_few_series
}

@test "camp export: no counter falls when two scrapers take turns" {
    scrape two_scrapers_of_one_exporter_get_correct_counters
}

# bats test_tags=law
@test "camp export and camp top report the same CPU time of a busy program" {
    scrape a_busy_program_has_the_same_numbers_as_in_camp_top
}

@test "camp export refuses requests from other web pages or with another Host header" {
    scrape requests_from_other_pages_or_to_another_host_name_are_refused
}

@test "camp export answers a scraper while many idle connections are open" {
    scrape a_scraper_is_answered_while_many_idle_connections_are_open
}

@test "camp export escapes special characters in the names of groups" {
    scrape names_with_special_characters_are_escaped
}

@test "on SIGHUP, camp export replaces its workload rules unless the new rules are wrong" {
    scrape sighup_reads_the_rules_again_unless_they_are_wrong "$BATS_TEST_TMPDIR/rules"
}

@test "SIGTERM and SIGINT end camp export at once" {
    scrape signals_end_the_exporter_at_once
}

@test "camp export --once prints one page of metrics in either format" {
    run --separate-stderr "$CAMP" export --once --interval 100ms --tier schedstat
    [ "$status" -eq 0 ]
    promtool check metrics <<<"$output"
    [[ $output != *camp_task_state_seconds* ]]
    [[ $output == *'camp_cpu_measured_seconds_total{mode="busy"}'* ]]
    awk '/^camp_cpu_seconds_total/ && !/"idle"|"iowait"/ { sum += $2 }
        /^camp_cpu_sampled_busy_seconds_total/ { busy = $2 }
        END { exit !(busy > 0 && sum - busy < 0.001 && busy - sum < 0.001) }' <<<"$output"
    run --separate-stderr "$CAMP" export --once --interval 100ms --tier schedstat --format openmetrics
    [ "${lines[-1]}" = "# EOF" ]
}

@test "camp export --once fails if its output goes to a full disk" {
    run "$CAMP" export --once --interval 10ms --tier schedstat >/dev/null
    run bash -c '"$CAMP" export --once --interval 10ms --tier schedstat >/dev/full'
    [ "$status" -eq 1 ]
    [[ $output == *"cannot write the output"* ]]
}

@test "camp export refuses a --host address beyond this computer without --allow-remote" {
    run "$CAMP" export --host 0.0.0.0 --port 0
    [ "$status" -eq 2 ]
    [[ $output == *"--allow-remote"* ]]
    run "$CAMP" export --host somewhere
    [ "$status" -eq 2 ]
}

@test "camp export refuses a --host address that this computer does not have" {
    local wrong
    for wrong in foo.bar 192.0.2.1; do
        run timeout 60 "$CAMP" export --host $wrong --port 0
        if [ $wrong = foo.bar ]; then [ "$status" -eq 2 ]; else [ "$status" -eq 1 ]; fi
        [[ $output == *"$wrong"*" address"* ]] && [[ $output != *"--allow-remote"* ]]
    done
}

@test "the error of camp export about a port in use recommends --port 0" {
    scrape a_port_in_use_is_reported_with_advice
}

@test "camp export reports that the folder of --socket does not exist" {
    run timeout 60 "$CAMP" export --tier schedstat --socket "$BATS_TEST_TMPDIR/none/x"
    [ "$status" -eq 1 ]
    [[ $output == *"a socket needs an existing folder"* ]]
}

@test "camp export creates its Unix socket with mode 600" {
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

@test "camp export refuses conflicting options" {
    local wrong
    for wrong in '--once --port 1' '--socket x --port 1' '--socket x --allow-remote' '--format openmetrics' '--interval 1s' \
        '--group workload' '--group user --workload /dev/null' '--tier none' 'word' \
        '--tier schedstat --group user' '--group application' '--rules /dev/null' '--background' \
        '--from threads' '--from run.camp' '--from postgres:x --why' '--from mariadb:x --workload /dev/null' \
        '--from postgres:x --tier taskstats' '--from mariadb:x --tier bpf2' '--from odbc:x' '--from nothing'; do
        # shellcheck disable=SC2086
        run timeout 60 "$CAMP" export $wrong
        echo "$wrong: $status $output"
        [ "$status" -eq 2 ] || [ "$status" -eq 4 ]
        [ "${#lines[@]}" -eq 1 ]
    done
}

@test "camp export without capabilities uses tier schedstat and names the missing capability" {
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

@test "camp-exporter --version prints the version of camp" {
    run "$(dirname "$CAMP")/camp-exporter" --version
    [ "$status" -eq 0 ]
    [ "$output" = "$("$CAMP" --version | sed 's/^camp /camp-exporter /')" ]
}

# In a pid namespace the kernel lists threads in the order of their pids in that namespace.
@test "camp export accounts a new process once even if older processes have higher pids" {
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
