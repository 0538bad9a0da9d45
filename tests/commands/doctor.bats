#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# camp doctor: what it reports in every format, to root and to other users.

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
}

json() { # json EXPRESSION: checks the expression, in which d is the JSON object
    /usr/bin/python3 -c "import json, sys; d = json.load(sys.stdin); print($1)"
}

# Runs a copy of camp as user nobody, who may not enter the folder of the build.
as_nobody() { # with FOLDER, which teardown removes
    cp "$CAMP" "$FOLDER/camp"
    chmod 755 "$FOLDER" "$FOLDER/camp"
    setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$FOLDER/camp" "$@" 2>&1
}

teardown() {
    if [ -n "${FOLDER:-}" ]; then rm -r "$FOLDER"; fi
}

@test "camp doctor shows kernel facts, capabilities and measurement tiers as text" {
    run --separate-stderr "$CAMP" doctor
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ ${lines[0]} == "$(uname -r | cut -c1-40) $(uname -m): camp check runs on tier "* ]]
    for word in tick_hz accounting tickless_idle taskstats CAP_NET_ADMIN schedstat bpf; do
        [[ $output == *"$word"* ]]
    done
}

@test "on a terminal of 80 columns, camp doctor wraps its lines and loses no word" {
    run -0 "$CAMP" doctor
    whole=$(tr -s ' ' '\n' <<<"$output" | sort -u)
    run -0 env NO_COLOR=1 CAMP="$CAMP" script -qec 'stty cols 80; "$CAMP" doctor' /dev/null </dev/null
    output=${output//$'\r'/}
    # The last two lines are advice, and may be longer than 80 columns.
    [ "$(head -n -2 <<<"$output" | awk 'length > 80' | wc -l)" -eq 0 ]
    [ "$(tr -s ' ' '\n' <<<"$output" | sort -u)" = "$whole" ]
}

@test "camp doctor refuses --table without --format csv" {
    for format in text json; do
        run --separate-stderr "$CAMP" doctor --table tiers --format $format
        [ "$status" -eq 2 ]
        [ "$stderr" = "camp doctor: --table goes with --format csv" ]
    done
}

@test "camp doctor --format json prints one object with facts, capabilities and tiers" {
    run bash -c '"$0" doctor --format json' "$CAMP"
    [ "$status" -eq 0 ]
    [ "$(echo "$output" | wc -l)" -eq 1 ]
    [ "$(echo "$output" | json 'd["schema"], d["release"]')" = "camp.doctor/1 $(uname -r)" ]
    [ "$(echo "$output" | json 'len(d["capabilities"]), len(d["tiers"])')" = "6 3" ]
    [ "$(echo "$output" | json 'sum(t["used"] for t in d["tiers"])')" = 1 ]
}

@test "the facts of camp doctor agree with the kernel's own files" {
    value() { "$CAMP" doctor -f json | json "[f['value'] for f in d['facts'] if f['name'] == '$1'][0]"; }
    [ "$(value user_hz)" = "$(getconf CLK_TCK)" ]
    [ "$(value schedstats)" = "$([ -e /proc/schedstat ] && echo True || echo False)" ]
    [ "$(value btf)" = "$([ -e /sys/kernel/btf/vmlinux ] && echo True || echo False)" ]
    if [ -r /proc/config.gz ]; then
        [ "$(value tick_hz)" = "$(zcat /proc/config.gz | sed -n 's/^CONFIG_HZ=//p')" ]
    fi
}

@test "camp doctor shows the version of Landlock and whether the kernel filters system calls" {
    fact() { "$CAMP" doctor -f json | json "[f['value'] for f in d['facts'] if f['name'] == '$1'][0]"; }
    # landlock_create_ruleset(2) returns the version with the flag 1; its number is 444 on all systems.
    version=$(python3 -c 'import ctypes; print(ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1))')
    [ "$version" -gt 0 ] || version=none
    [ "$(fact landlock)" = "$version" ]
    [ "$(fact system_call_filter)" = "$(grep -q ^Seccomp: /proc/self/status && echo True || echo False)" ]
}

# Lists the events to which the programs in the kernel attach.
attached_to() {
    sed -n 's,.*SEC("tp_btf/\([a-z_]*\)").*,\1,p; s,^INTERRUPT(\([a-z_]*\).*,\1_entry\n\1_exit,p' \
        "$TREE"/src/microstates/linux/programs/{states.bpf.c,interrupt.bpf.h,changes.bpf.h,migrate.bpf.h,wakers.bpf.h}
}

@test "the JSON of camp doctor lists every kernel event to which camp's BPF programs attach" {
    run --separate-stderr "$CAMP" doctor --format json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    if [[ $output == *"without microstates"* ]]; then skip "built without microstates"; fi
    [ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
    rows=$(json '" ".join(e["name"].split()[0] for e in d["events"])' <<<"$output")
    [ "$(attached_to | wc -l)" -ge 14 ]
    for event in $(attached_to); do
        echo "$event"
        [[ " $rows " == *" $event "* ]]
    done
    [ "$(json 'd["microstates"] == all(e["present"] for e in d["events"] if e["needed"])' <<<"$output")" = True ] ||
        [ "$(id -u)" -ne 0 ]
    [ "$(json '[t["available"] for t in d["tiers"] if t["name"] == "bpf"] == [d["microstates"]]' <<<"$output")" = True ]
    [ "$(json '(d["microstates_refusal"] is None) == d["microstates"]' <<<"$output")" = True ]
}

@test "camp doctor --format csv --table capabilities prints only the capabilities" {
    run "$CAMP" doctor --format csv --table capabilities
    [ "$status" -eq 0 ]
    [[ $output == *CAP_NET_ADMIN* ]]
    [[ $output != *tick_hz* ]]
}

@test "camp doctor shows an ordinary user the setcap command that enables the other tiers" {
    [ "$(id -u)" -eq 0 ] || skip "takes root, to become another"
    FOLDER=$(mktemp -d)
    run as_nobody doctor
    [ "$status" -eq 0 ]
    [[ $output != *"see camp doctor"* ]]
    [[ $output == *"runs on tier schedstat"* ]]
    [[ ${lines[-1]} == "To change that: sudo groupadd --system camp; sudo usermod -aG camp"*"; sudo setcap cap_net_admin,cap_bpf,cap_perfmon=p '"*"/camp'; then log in again" ]]
    [[ ${lines[-2]} == "Thread states are unavailable: camp top and camp time show CPU time; camp wait uses its tier kernel: "*"CAP_BPF and CAP_PERFMON"* ]] ||
        [[ ${lines[-2]} == *"without microstates"* ]]
}

@test "the last line of camp doctor names the user who called sudo, not root" {
    [ "$(id -u)" -eq 0 ] || skip "takes root, to become another"
    FOLDER=$(mktemp -d)
    unset SUDO_USER
    run as_nobody doctor
    [[ ${lines[-1]} == *" camp \$USER;"* || ${lines[-1]} == *"adduser \$USER camp;"* ]]
    SUDO_USER=alice run as_nobody doctor
    echo "${lines[-1]}"
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} == *'${SUDO_USER:-$USER}'* ]]
    [[ ${lines[-1]} != *alice* ]] # a shell expands the variable, so the name needs no quotes
}

# An explanation in one line of 80 columns, which is true for each command: the confinement differs between commands.
@test "camp doctor explains whether camp can confine itself, for each kernel" {
    run -0 "$CAMP" doctor
    facts=$(grep -E '^(landlock|system_call_filter) ' <<<"$output" | tr -s ' ')
    echo "$facts"
    if [[ $facts == *"built with a sanitizer"* ]]; then skip "built with a sanitizer"; fi
    grep -qE '^landlock ([0-9]+ version of Landlock, which limits access to files|none camp can open every file that its user can)$' <<<"$facts"
    grep -qE '^system_call_filter (yes camp can|no camp cannot) limit its own system calls$' <<<"$facts"
}

@test "the tiers of camp doctor say for themselves what they see" {
    run -0 "$CAMP" doctor --format csv --table tiers
    [ "$(grep -cE ',(bpf|taskstats),(true|false),(true|false),"?sampled and measured time of living ' <<<"$output")" -eq 2 ]
    grep -q ',schedstat,true,[a-z]*,measured time of living processes,' <<<"$output"
}

# Prints what camp doctor reports about the fact tickless_idle. Here only /proc/timer_list has this fact.
tickless() { # [COMMAND...] camp: prints the line of the text, without repeated blanks
    [ ! -r "/boot/config-$(uname -r)" ] || skip "the kernel's configuration tells it"
    [ ! -e /sys/devices/system/cpu/nohz_full ] || skip "nohz_full tells it"
    [ -f /proc/timer_list ] || skip "this container masks it"
    FOLDER=$(mktemp -d)
    cp "$CAMP" "$FOLDER/camp"
    chmod 755 "$FOLDER" "$FOLDER/camp"
    run "$@" "$FOLDER/camp" doctor
    [ "$status" -eq 0 ]
    line=$(grep '^tickless_idle ' <<<"$output" | tr -s ' ')
    echo "$line"
}

nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"

@test "camp doctor names the capability that a user needs to read /proc/timer_list" {
    [ "$(id -u)" -eq 0 ] || skip "takes root, to become another"
    # shellcheck disable=SC2086
    tickless $nobody --inh-caps=-all
    [ "$line" = "tickless_idle - unknown: CAP_DAC_READ_SEARCH opens /proc/timer_list" ]
    rm -r "$FOLDER"
    # shellcheck disable=SC2086
    tickless $nobody --inh-caps=+dac_read_search --ambient-caps=+dac_read_search
    [[ $line == "tickless_idle yes "* || $line == "tickless_idle no "* ]]
}

@test "camp doctor in a user namespace does not advise to add a capability" {
    [ "$(id -u)" -eq 0 ] || skip "takes root, to become another"
    # shellcheck disable=SC2086
    $nobody --inh-caps=-all unshare --map-root-user true || skip "no user namespaces here"
    # shellcheck disable=SC2086
    tickless $nobody --inh-caps=-all unshare --map-root-user
    [ "$line" = "tickless_idle - unknown: no user may read /proc/timer_list" ]
    [[ ${lines[-1]} == "To change that: run camp outside of this container"* ]]
}

@test "camp doctor reports that a container masks /proc/timer_list" {
    unshare --mount true || skip "takes root, to mount"
    # shellcheck disable=SC2016
    over='mount --bind "$1" /proc/timer_list && shift && exec "$@"'
    tickless unshare --mount sh -c "$over" - /dev/null
    [ "$line" = "tickless_idle - unknown: a container masks /proc/timer_list" ]
    rm -r "$FOLDER"
    touch "$BATS_TEST_TMPDIR/empty"
    tickless unshare --mount sh -c "$over" - "$BATS_TEST_TMPDIR/empty"
    [ "$line" = 'tickless_idle - unknown: needs a readable /boot/config-$(uname -r)' ]
}

@test "camp doctor refuses an operand or an unknown format with status 2" {
    run "$CAMP" doctor now
    [ "$status" -eq 2 ]
    run "$CAMP" doctor --format yaml
    [ "$status" -eq 2 ]
}
