#!/usr/bin/env bats
# camp top on a terminal: what it draws, and what its keys do.

bats_require_minimum_version 1.5.0
load children
load microstates

setup_file() {
    find_refusal top --tier bpf --count 1 --interval 50ms --top 1
}

setup() {
    need_states
    grep -qaF libncursesw.so "$CAMP" || [[ $BATS_TEST_DESCRIPTION == *"prints lines"* ]] ||
        skip "camp was built without ncurses"
}

teardown() {
    end_children
    tmux -S "$BATS_TEST_TMPDIR/tmux" kill-server 2>/dev/null || true
}

# Runs a command in a new terminal: screen.py COLUMNS LINES KEYS -- COMMAND prints the last screen.
on_screen() {
    local columns=$1 rows=$2 keys=$3
    shift 3
    run /usr/bin/python3 "$BATS_TEST_DIRNAME/screen.py" "$columns" "$rows" "$keys" -- "$CAMP" top \
        --interval 500ms "$@"
    [ "$status" -eq 0 ]
    echo "$output"
    [[ $output == *"camp top  each "* || $columns -eq 1 ]]
}

@test "the screen of camp top fits terminals of any size down to 1 x 1" {
    on_screen 80 24 q
    [[ ${lines[0]} == "camp top  each process, by cpu  h: help" ]]
    [[ ${lines[1]} == *"tier bpf"* ]]
    [[ ${lines[2]} == *" busy"*", and "* || ${lines[2]} == "All is idle."* ]]
    [[ $output == *$'\n    cpu   usr%'* ]]
    sentence=$(sed -n '3,/^    cpu   usr%/p' <<<"$output" | head -n -1 | tr '\n' ' ')
    [[ $sentence =~ (unaccounted|accounted twice|unseen|lost|not whole|unread).*\. ]] # its end is not cut off
    grep -Eq '^     id  name .* slp%( +other%)? +un%$' <<<"$output"
    [ "${#lines[@]}" -gt 10 ] && [ "${#lines[@]}" -le 24 ]
    for line in "${lines[@]}"; do [ "${#line}" -le 80 ]; done
    on_screen 40 8 q
    [ "${#lines[@]}" -le 8 ]
    [[ ${lines[3]} =~ ^\ +id\ +name ]] # the CPUs do not fit
    on_screen 0 0 q
    [[ ${lines[0]} == "camp top"* ]]
    on_screen 1 1 'hhtbgsq'
    [ "${#lines[@]}" -le 1 ]
}

@test "keys of camp top can group, sort, filter and freeze the rows on the screen" {
    on_screen 80 24 'ggSq'
    [[ ${lines[0]} == "camp top  each command, by busy  h: help" ]]
    on_screen 80 24 ' q'
    [[ ${lines[0]} == *"FROZEN"* ]]
    on_screen 80 24 $'/^camp$\rq'
    [[ ${lines[0]} == *"only ^camp$"* ]]
    grep -Eq '^ +[0-9]+  camp  ' <<<"$output"
    on_screen 80 24 $'/(\rq'
    [[ ${lines[0]} == *"is no regular expression"* ]]
    on_screen 80 24 'cq'
    [[ $output == *"USERNAME"* ]]
}

@test "the keys t and g of camp top show the tree and the next kind of group" {
    on_screen 80 24 'gtq'
    [[ ${lines[0]} == "camp top  each process, by cpu, tree  h: help" ]]
    # The key g shows all kinds of groups in turn; without --workload there are no workloads.
    on_screen 80 24 'ggggggq'
    [[ ${lines[0]} =~ each\ (process|thread|user), ]]
    echo 'all line=.' >"$BATS_TEST_TMPDIR/workloads"
    on_screen 80 24 'q' --workload "$BATS_TEST_TMPDIR/workloads"
    [[ ${lines[0]} == "camp top  each workload"* ]]
    [[ $output == *"all "* ]]
}

@test "the help screen of camp top names each key and fits 80 x 24" {
    # The command ends after its last interval, so the printed screen is the screen after the last h.
    run -0 /usr/bin/python3 "$BATS_TEST_DIRNAME/screen.py" 100 24 hh -- "$CAMP" top \
        --interval 500ms --count 8
    [[ $output == *"measured at each change of state"* ]]
    [[ ${lines[-1]} == "any key goes back" ]]
    for key in q space g t 's  S' 'f  /' p k c b 'up down'; do [[ $output == *"  $key "* ]]; done
    for line in "${lines[@]}"; do [ "${#line}" -le 80 ]; done
}

@test "the key b of camp top shows the rows as dots in a triangle" {
    LC_ALL=C.UTF-8 on_screen 80 24 'bq'
    [[ $output == *[⠁-⣿]* ]]
    LC_ALL=C on_screen 80 24 'bq'
    [[ $output != *[⠁-⣿]* ]]
    [[ ${lines[0]} == "camp top  each process"* ]]
}

@test "the screen of camp top uses colors unless NO_COLOR is set" {
    run env TERM=xterm-256color CAMP="$CAMP" script -qec '"$CAMP" top --interval 300ms --count 2' /dev/null
    [[ $output == *[\[\;]7m* ]]
    [[ $output == *[\[\;]2m* ]]
    [[ $output == *$'\e[39;49m'* ]]
    run env TERM=xterm-256color NO_COLOR=1 CAMP="$CAMP" script -qec '"$CAMP" top --interval 300ms --count 2' /dev/null
    [[ $output == *[\[\;]7m* ]]
    [[ $output != *$'\e[39;49m'* ]]
}

@test "camp top replaces characters beyond ASCII on its screen with LC_ALL=C" {
    cp "$(command -v sleep)" "$BATS_TEST_TMPDIR/größe"
    "$BATS_TEST_TMPDIR/größe" 20 &
    LC_ALL=C.UTF-8 on_screen 80 24 q --filter '^gr'
    [[ $output == *" größe "* ]]
    LC_ALL=C on_screen 80 24 q --filter '^gr'
    [[ $output == *" gr??e "* ]]
}

@test "a name cannot clear, color or reorder the screen of camp top" {
    name=$'zz\e[2Jb\xc2\x9b1m\xe2\x80\xae'
    ln -s "$(command -v sleep)" "$BATS_TEST_TMPDIR/$name"
    "$BATS_TEST_TMPDIR/$name" 20 &
    LC_ALL=C.UTF-8 on_screen 80 24 q --filter '^zz'
    [[ ${lines[0]} == "camp top  each process"* ]]
    [[ $output == *" zz?[2Jb?1m? "* ]]
    seq -f "%.0f,\"$name\",900" 1700000000 1700000060 | sed '1i time,entity,disk_ms' >"$BATS_TEST_TMPDIR/$name.csv"
    LC_ALL=C.UTF-8 run -0 /usr/bin/python3 "$BATS_TEST_DIRNAME/screen.py" 80 24 q -- "$CAMP" top --from \
        "$BATS_TEST_TMPDIR/$name.csv"
    echo "$output"
    [[ ${lines[1]} == *"  zz?[2Jb?1m?.csv  tier table  1 entity" ]]
    [[ $output == *"Mostly zz?[2Jb?1m?."* ]]
    [[ $output == *$'\n'"zz?[2Jb?1m? "* ]]
}

in_tmux() {
    tmux -f /dev/null -S "$BATS_TEST_TMPDIR/tmux" "$@"
}

# until_shown PATTERN...: waits up to 10 s until the screen in tmux matches all patterns. $output is the screen.
until_shown() {
    local pattern missing
    for _ in {1..100}; do
        missing=
        output=$(in_tmux capture-pane -p)
        for pattern; do grep -Eq -e "$pattern" <<<"$output" || missing=$pattern; done
        [ -n "$missing" ] || return 0
        sleep 0.1
    done
    echo "there is no '$missing' in:"$'\n'"$output"
    return 1
}

@test "camp top redraws its screen after the terminal changes its size" {
    command -v tmux >/dev/null || skip "tmux is not installed"
    in_tmux new-session -d -x 80 -y 24 "$CAMP" top --interval 300ms 3>&-
    until_shown '^camp top  each process' '^     id  name .* un%$'
    in_tmux resize-window -x 50 -y 12
    until_shown '^     id  name +usr%  sys%  runq%  other%   un%$' '^[0-9]+ threads, on average '
    in_tmux resize-window -x 100 -y 30
    until_shown '^     id  name +thr .* runq% .* un%$'
    # While frozen, all keys show the same interval.
    in_tmux send-keys ' '
    until_shown FROZEN
    frozen=$output
    sleep 0.7
    [ "$frozen" = "$(in_tmux capture-pane -p)" ]
    in_tmux send-keys gs
    until_shown 'each user, by user  FROZEN'
    [ "$(sed -n 2p <<<"$frozen")" = "$(sed -n 2p <<<"$output")" ]
    in_tmux send-keys ' '
    until_shown 'each user, by user  h: help'
    for _ in {1..100}; do
        [ "$(in_tmux capture-pane -p | sed -n 2p)" = "$(sed -n 2p <<<"$frozen")" ] || break
        sleep 0.1
    done
    [ "$(in_tmux capture-pane -p | sed -n 2p)" != "$(sed -n 2p <<<"$frozen")" ]
    in_tmux send-keys q
    for _ in {1..100}; do in_tmux has-session 2>/dev/null || break; sleep 0.1; done
    run ! in_tmux has-session
}

@test "camp top prints lines instead of a screen on a dumb terminal or with --format text" {
    run env TERM=dumb CAMP="$CAMP" script -qec '"$CAMP" top --count 1 --interval 100ms' /dev/null
    [[ $output == *"tier bpf"* ]]
    [[ $output != *"h: help"* ]]
    run env TERM=vt100 CAMP="$CAMP" script -qec '"$CAMP" top --format text --count 1 --interval 100ms' /dev/null
    [[ $output == *"tier bpf"* ]]
    [[ $output != *"h: help"* ]]
    run env TERM=vt100 CAMP="$CAMP" script -qec '"$CAMP" top --count 1 --interval 100ms <&-' /dev/null
    [[ $output == *"tier bpf"* ]]
    [[ $output != *"h: help"* ]]
}
