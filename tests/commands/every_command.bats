#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# Rules for every command.

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
}

# Prints the names of all commands that camp --help lists.
commands() {
    "$CAMP" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'
}

@test "camp without a command is a usage error that lists the commands" {
    run "$CAMP"
    [ "$status" -eq 2 ]
    [[ $output == *check* ]]
}

@test "camp --help names every command" {
    run "$CAMP" --help
    [ "$status" -eq 0 ]
    for command in check top time wait why explain view record report compare get list doctor load verify probe; do
        [[ $output == *$command* ]]
    done
}

@test "every command prints its usage with --help" {
    for command in $(commands); do
        run --separate-stderr "$CAMP" "$command" --help
        [ "$status" -eq 0 ]
        [[ $output == *"camp $command"* ]]
        [ -z "$stderr" ]
    done
}

@test "--help of each command prints lines of at most 80 columns" {
    for words in '' $(commands) 'load cpu' 'load fork' 'load memory' \
        'load net' 'load io' 'load threads'; do
        # shellcheck disable=SC2086
        run --separate-stderr "$CAMP" $words --help
        [ "$status" -eq 0 ]
        [ "${#lines[@]}" -gt 3 ]
        for line in "${lines[@]}"; do
            echo "camp $words --help: $line"
            [ "${#line}" -le 80 ]
        done
    done
}

@test "camp --version prints the version" {
    run "$CAMP" --version
    [ "$status" -eq 0 ]
    [[ $output =~ [0-9]+\.[0-9]+\.[0-9]+ ]]
}

@test "camp help COMMAND prints the same as camp COMMAND --help" {
    for words in '' $(commands) 'load cpu'; do
        # shellcheck disable=SC2086
        run --separate-stderr "$CAMP" help $words
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
        # shellcheck disable=SC2086
        [ "$output" = "$("$CAMP" $words --help)" ]
    done
    run --separate-stderr "$CAMP" help chekc
    [ "$status" -eq 2 ]
    [[ $stderr == "camp: there is no command 'chekc'; did you mean 'check'?" ]]
}

@test "the error about a mistyped command suggests the closest command" {
    run --separate-stderr "$CAMP" chekc
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [[ $stderr == "camp: there is no command 'chekc'; did you mean 'check'?" ]]
    run --separate-stderr "$CAMP" hlep
    [[ $stderr == *"did you mean 'help'?" ]]
    run --separate-stderr "$CAMP" measure
    [ "$status" -eq 2 ]
    [[ $stderr == "camp: there is no command 'measure'; see camp --help" ]]
}

@test "the error about a mistyped option suggests the closest option" {
    for command in check get list doctor verify probe; do
        run --separate-stderr "$CAMP" "$command" --fromat json
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [[ $stderr == "camp $command: there is no option --fromat; did you mean --format?" ]]
    done
}

@test "every command refuses an unknown option with status 2 and names that option" {
    for command in $(commands); do
        run --separate-stderr "$CAMP" "$command" --no-such-option
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [[ $stderr == *"camp $command: "*no-such-option* ]]
    done
}

@test "camp fails with status 1 and one line on stderr if its output goes to a full disk" {
    for words in 'check --interval 0.1 --count 1' 'list cpus' doctor --help 'check --help' --version; do
        # shellcheck disable=SC2086
        run --separate-stderr bash -c '"$@" >/dev/full' - "$CAMP" $words
        [ "$status" -eq 1 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == camp*'No space left'* ]]
    done
}

@test "camp check reports a closed stdout in one line and exits with status 1" {
    run --separate-stderr bash -c '"$1" check --interval 0.1 --count 1 >&-' - "$CAMP"
    [ "$status" -eq 1 ]
    [ "${#stderr_lines[@]}" -eq 1 ]
}
