#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# Manual pages and completions: what the build writes from the tables of options.

setup_file() {
    # Formats each page once, for all tests. NAME.1.warnings has the warnings about the page NAME.
    pages=$(dirname "$(dirname "${CAMP:-$BATS_TEST_DIRNAME/../../build/gcc/src/camp}")")/docs/man
    for page in "$pages"/*.1 "$pages"/man3/*.3; do
        if grep -q '^\.so ' "$page"; then continue; fi # a link
        MANWIDTH=80 man --warnings -E UTF-8 -l "$page" 2>"$BATS_FILE_TMPDIR/${page##*/}.warnings" |
            cat >"$BATS_FILE_TMPDIR/${page##*/}"
    done
}

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    BUILD=$(dirname "$(dirname "$CAMP")")
    COMPLETIONS=$BUILD/packaging/completions
    PAGES=$BUILD/docs/man
    PATH=$(dirname "$CAMP"):$PATH
    cd "$BATS_TEST_TMPDIR" || return
}

# Lists all commands that have options: "check", "load cpu".
commands() {
    "$CAMP" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p' | grep -v '^load$'
    "$CAMP" load --help | sed -n 's/^  \([a-z]\{1,\}\) .*/load \1/p'
}

options_of() { # COMMAND: prints the options in its --help
    # shellcheck disable=SC2086
    "$CAMP" $1 --help | sed -n 's/^  \(-[a-z],\|   \) \(--[a-z0-9-]*\).*/\2/p' | grep -v '^--help$'
}

@test "each command and the library have a manual page" {
    for command in $("$CAMP" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'); do
        [ -s "$PAGES/camp-$command.1" ] || {
            echo "camp-$command has no page: name it in docs/man/meson.build"
            false
        }
    done
    [ -s "$PAGES/camp.1" ] && [ -s "$PAGES/man3/libcamp.3" ]
}

@test "man formats each manual page without a warning" {
    [ "$(ls "$BATS_FILE_TMPDIR"/*.3.warnings | wc -l)" -gt 10 ]
    for warnings in "$BATS_FILE_TMPDIR"/*.warnings; do
        [ -s "${warnings%.warnings}" ]
        diff /dev/null "$warnings"
    done
}

@test "each command's manual page has the sections SYNOPSIS, OPTIONS and EXIT STATUS" {
    for page in "$BATS_FILE_TMPDIR"/camp-*.1; do
        for title in NAME SYNOPSIS DESCRIPTION 'OPTIONS\|LOADS' 'EXIT STATUS' 'SEE ALSO'; do
            grep -qx "\($title\)" "$page" || {
                echo "$page: $title"
                false
            }
        done
    done
}

@test "the manual page of each command has every option of its --help" {
    commands | while read -r command; do
        for option in $(options_of "$command"); do
            grep -q -e "^ *\(-., \)\?$option\( \|\$\)" "$BATS_FILE_TMPDIR/camp-${command%% *}.1" || {
                echo "camp $command: $option"
                false
            }
        done
    done
}

@test "the manual page of camp-exporter has the options of camp export" {
    local option
    for option in $(options_of export) --version; do
        grep -q -e "^ *\(-., \)\?$option\( \|\$\)" "$BATS_FILE_TMPDIR/camp-exporter.1" || {
            echo "$option"
            false
        }
    done
}

@test "manual pages name documents by their full path" {
    run ! grep -E '(^|[^/[:alnum:]])docs/[a-z]' "$BATS_FILE_TMPDIR"/*.[13]
}

in_bash() {
    bash "$TREE/tests/commands/complete.bash" "$COMPLETIONS/camp" "$1"
}

in_zsh() {
    timeout 20 zsh -f "$TREE/tests/commands/complete.zsh" "$COMPLETIONS/_camp" "$1" \
        "$BATS_TEST_TMPDIR" </dev/null
}

in_fish() {
    HOME=$BATS_TEST_TMPDIR fish -c 'source $argv[1]; complete -C $argv[2]' "$COMPLETIONS/camp.fish" "$1" | cut -f1
}

# offers LINE WORD...: each shell must complete LINE with exactly these words. A folder may end in a slash.
offers() {
    local line=$1 shell offered
    shift
    printf '%s\n' "$@" | sed '/^$/d' | sort >wanted
    for shell in bash zsh fish; do
        in_$shell "$line" | sed 's,/$,,; s/^--format=//; /^-[hV]$/d; /^--help$/d; /^--version$/d' |
            sed '/^$/d' | sort -u >offered
        echo "$shell: $line"
        diff wanted offered
    done
}

# bats test_tags=deep
@test "bash, zsh and fish find no syntax error in their completion files" {
    bash -n "$COMPLETIONS/camp"
    zsh -n "$COMPLETIONS/_camp"
    fish -n "$COMPLETIONS/camp.fish"
}

# bats test_tags=deep
@test "shell completion offers the commands of camp" {
    # shellcheck disable=SC2046
    offers 'camp ' help $("$CAMP" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p')
    offers 'camp help rec' record
    # shellcheck disable=SC2046
    offers 'camp load ' $("$CAMP" load --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p')
}

# bats test_tags=deep
@test "shell completion offers every option of every command" {
    commands | while read -r command; do
        # shellcheck disable=SC1090
        offered=" $(bash -c '. "$1"; _camp_options_of "$2"; echo "$REPLY"' - "$COMPLETIONS/camp" \
            "$command") "
        sed -n "/^_camp_${command/ /_}()/,/^}/p" "$COMPLETIONS/_camp" >zsh.txt
        grep "'__camp_in $command'" "$COMPLETIONS/camp.fish" >fish.txt
        for option in $(options_of "$command"); do
            echo "camp $command $option"
            [[ $offered == *" $option "* ]]
            grep -q -e "[ ,']${option}[='},[]" zsh.txt
            grep -q -e " -l ${option#--} " fish.txt
        done
    done
}

# bats test_tags=deep
@test "shell completion offers only the words that an option accepts as its value" {
    offers 'camp check --interv' --interval
    offers 'camp check --format ' text json csv classic
    offers 'camp check --format=c' csv classic
    offers 'camp export --tier ' auto bpf taskstats schedstat schedstat+SQL schedstat+memory SQL performance_schema
    offers 'camp export --from post' postgres:
    offers 'camp export --from mari' mariadb:
    offers 'camp export --host 127' 127.0.0.1
    offers 'camp load cpu --phase ' any between-ticks across-ticks
    touch file
    offers 'camp check --interval '
    offers 'camp top --filter '
}

# bats test_tags=deep
@test "shell completion offers files for options that take a file" {
    mkdir recordings
    touch recordings/a.rules
    offers 'camp top --rules rec' recordings
    offers 'camp get --proc rec' recordings
    offers 'camp top --from po' postgres:
    offers 'camp top --from rec' recordings
}

# bats test_tags=deep
@test "shell completion offers counters to camp get, kinds to camp list, programs to camp time" {
    offers 'camp get cpu.us' cpu.user_ns cpu.user_percent
    offers 'camp list net' networks
    mkdir only
    printf '#!/bin/sh\n' >only/unheard-of-program
    chmod +x only/unheard-of-program
    PATH=$PWD/only:$PATH offers 'camp time -- unheard-of-p' unheard-of-program
}

@test "the help describes every word that shell completion offers for --from" {
    help=$("$CAMP" record --help)
    for word in $(in_bash 'camp record --from ' | grep -v /); do
        echo "$word"
        [[ $help == *"$word"* ]]
    done
}
