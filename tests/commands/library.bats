#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# The documentation of the C libraries: their manual pages, which are made from the public headers, and the examples.

setup_file() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    BUILD=$(dirname "$(dirname "$CAMP")")
    PAGES=$BUILD/docs/man/man3
    EXAMPLES=$BUILD/docs/examples
    export TREE BUILD PAGES EXAMPLES
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

functions() { # lists the functions that the libraries export
    nm -D --defined-only "$BUILD"/src/counters/libcamp.so.0.*.[0-9] "$BUILD"/src/microstates/libcamp-states.so.0.*.[0-9] |
        awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort
}

page() { # NAME: prints a page, as man finds it by this name
    MANPATH=$BUILD/docs/man MANWIDTH=80 man -E UTF-8 3 "$1"
}

headers() {
    grep -l CAMP_PUBLIC "$TREE"/include/camp/*.h
}

@test "man finds a page for each function of the library" {
    functions >exported
    [ "$(wc -l <exported)" -gt 50 ]
    grep -qx camp_cpu_read exported
    grep -qx camp_states_open exported
    while read -r function; do
        [ -s "$PAGES/$function.3" ] || {
            echo "$function has no page"
            false
        }
        target=$(sed -n 's,^.so man3/,,p' "$PAGES/$function.3")
        grep -q "$function(" "$PAGES/${target:-$function.3}" || {
            echo "$function is not in the page that its link names"
            false
        }
    done <exported
    page camp_process_read >text
    grep -q '^ *int camp_process_read(const struct camp_source \*source,$' text
}

@test "no page of the library is about a function that is not exported" {
    sed -n 's/^.SS \(camp_[a-z0-9_]*\)()$/\1/p' "$PAGES"/*.3 | sort >documented
    functions | diff - documented
}

@test "the index libcamp(3) has a line for each function" {
    page libcamp | sed -n '/^FUNCTIONS/,/^EXAMPLES/s/^ *\(camp_[a-z0-9_]*\)()$/\1/p' | sort >indexed
    functions | diff - indexed
}

@test "mandoc finds no fault in the manual pages of the library" {
    for file in "$PAGES"/*.3; do
        grep -q '^\.so ' "$file" || mandoc -T lint -W style "$file"
    done
}

@test "each page of functions has the sections of a manual page, and each error with its meaning" {
    for name in $(sed -n 's,^.so man3/\(.*\).3$,\1,p' "$PAGES"/*.3 | sort -u); do
        page "$name" >text
        for title in NAME SYNOPSIS DESCRIPTION 'RETURN VALUE' 'SEE ALSO'; do
            grep -qx "$title" text || {
                echo "$name: $title"
                false
            }
        done
    done
    page camp_thread_read | sed -n '/^ERRORS/,/^SEE/p' >errors
    grep -A 1 '^       camp_thread_read()$' errors | grep -q 'CAMP_E_INVALID'
    # man(1) justifies lines by more blanks between words
    grep -A 1 '^       CAMP_E_GONE$' errors | tr -s ' ' | grep -q 'The process, thread, CPU'
}

@test "each function that a system may lack lists CAMP_E_NOTSUP" {
    sed -n 's/^int \(camp_[a-z0-9_]*\)(.*/\1/p' "$TREE"/src/counters/none/*.c >lacking
    [ "$(wc -l <lacking)" -gt 30 ]
    while read -r function; do
        target=$(sed -n 's,^.so man3/,,p' "$PAGES/$function.3")
        sed -n '/^.SH ERRORS/,/^They mean/p' "$PAGES/${target:-$function.3}" >errors
        sed -n "/^.fB$function.fP/,/^.TP/p" errors | grep -q CAMP_E_NOTSUP || {
            echo "$function"
            false
        }
    done <lacking
}

@test "the manual page of a struct has its fields with their comments" {
    page camp_cpu | grep -A 1 '^       uint64_t user_ns$' | grep -q 'without guest_ns'
}

# refused TEXT MESSAGE: a header with this declaration is refused with this message.
refused() {
    printf '/*\n * planted.h - a header.\n */\n%b\n' "$1" >planted.h
    run -1 --separate-stderr "$TREE/tools/library-manual" index planted.h
    [[ $stderr == *"$2"* ]]
}

@test "a function whose comment lists no errors is refused" {
    refused '/* Reads. */\nCAMP_PUBLIC int camp_planted(void);' \
        'the comment of camp_planted() must end with "Errors: ..."'
    refused 'CAMP_PUBLIC int camp_planted(void);' 'camp_planted() has no comment'
    refused 'typedef int camp_planted;' 'not understood'
    printf '/*\n * planted.h - a header.\n */\n/* Reads.\n * Errors: CAMP_E_IO. */\n%s\n' \
        'CAMP_PUBLIC int camp_planted(void);' >planted.h
    run -0 "$TREE/tools/library-manual" index planted.h
    [[ $output == *'| `camp_planted()` | Reads |'* ]]
}

@test "the headers compile alone as C99, C11 and C23, as C++98, C++11 and C++20" {
    for header in $(headers); do
        for standard in c99 c11 c2x; do
            echo "#include <camp/$(basename "$header")>" |
                gcc -x c -std=$standard -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$TREE/include" -
        done
        for standard in c++98 c++11 c++20; do
            echo "#include <camp/$(basename "$header")>" | "$(command -v g++ || echo clang)" -x c++ -std=$standard \
                -Wall -Wextra -pedantic -Werror -fsyntax-only -nostdinc++ -I"$TREE/include" -
        done
    done
}

# for_other_systems COMPILER...: checks the examples without linking them.
for_other_systems() {
    command -v "$1" >/dev/null || skip "$1 is not installed"
    for example in "$TREE"/docs/examples/*.c "$TREE"/docs/examples/states/process-states.c; do
        "$@" -std=c11 -Wall -Wextra -Werror -pedantic -fsyntax-only -I"$TREE/include" "$example"
    done
}

# bats test_tags=deep
@test "the examples compile as C11 for Windows" {
    for_other_systems x86_64-w64-mingw32-gcc
}

# The declarations of glibc stand for those of illumos: the examples use those of ISO C alone.
@test "the examples compile as C11 for illumos" {
    for_other_systems clang --target=x86_64-pc-solaris2.11 -isystem /usr/include \
        -isystem "/usr/include/$(gcc -print-multiarch)"
}

@test "the example memory prints the total of /proc/meminfo" {
    run -0 "$EXAMPLES/memory"
    [ "$(awk '$1 == "total" { print $2 }' <<<"$output")" = \
        "$(awk '$1 == "MemTotal:" { printf "%.1f", $2 * 1024 / 1e6 }' /proc/meminfo)" ]
    [ "${#lines[@]}" -eq 7 ]
}

@test "the example cpus prints the total and each CPU, with both percentages" {
    run -0 "$EXAMPLES/cpus" 0.3
    [ "${#lines[@]}" -eq $((2 + $(grep -c '^cpu[0-9]' /proc/stat))) ]
    [[ ${lines[1]} =~ ^all\ +[0-9.]+\ \((measured|sampled|unknown)\)\ +[0-9.]+\ +[0-9.]+$ ]]
}

# bats test_tags=law
@test "the example busiest prints a busy process with its pid and name first" {
    (while :; do :; done) 3>&- &
    busy=$!
    run -0 "$EXAMPLES/busiest" 0.5 100
    kill $busy
    grep -Eq "^ *$busy +[1-9][0-9.]+ bash$" <<<"$output"
    # The lines are in descending order.
    sed 1d <<<"$output" | awk '{ print $2 }' >percents
    sort -rnc percents
}

# bats test_tags=law
@test "the example busiest replaces the control characters of a process's name" {
    printf '#!/bin/sh\nwhile :; do :; done\n' >$'a\033b'
    chmod +x $'a\033b'
    "./"$'a\033b' 3>&- &
    busy=$!
    run -0 "$EXAMPLES/busiest" 0.5 1000
    kill $busy
    grep -Eq "^ *$busy +[0-9.]+ a\\?b$" <<<"$output"
}

@test "the example disks prints only disks with a device of their own" {
    run -0 "$EXAMPLES/disks" 0.1
    [[ ${lines[0]} == disk*busy% ]]
    for line in "${lines[@]:1}"; do
        [ -e "/sys/block/${line%% *}/device" ]
        [[ $line =~ ^[^\ ]+(\ +[0-9.]+){5}$ ]]
    done
    [ "${#lines[@]}" -eq $((1 + $(find /sys/block/*/device -maxdepth 0 2>/dev/null | wc -l))) ]
}

@test "the example networks prints each interface, and marks a counter that was reset" {
    run -0 "$EXAMPLES/networks" 0.1
    [ "${#lines[@]}" -eq $(($(wc -l </proc/net/dev) - 1)) ]
    mkdir net
    head -n 2 /proc/net/dev >heading
    (cat heading && echo '  eth0: 5000000 4000 0 0 0 0 0 0 900 90 0 0 0 0 0 0') >net/dev
    (cat heading && echo '  eth0: 1000 10 0 0 0 0 0 0 1900 190 0 0 0 0 0 0') >later
    "$EXAMPLES/networks" 1 . >printed 3>&- &
    sleep 0.5
    mv later net/dev
    wait $!
    # 1000 bytes since the reset, and 1000 more bytes, in at least 1 s
    awk '$1 == "eth0" && $2 ~ /^[1-9][0-9]*[*]$/ && $2 + 0 <= 1000 && $3 ~ /[*]$/ && $4 ~ /^[1-9][0-9]*$/ &&
        $4 <= 1000 && $5 ~ /^[0-9]+$/ { found = 1 } END { exit !found }' printed
}

@test "the example threads prints each thread of a process" {
    python3 -c '
import threading, time
for _ in range(3): threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
print(flush=True)
time.sleep(30)' >ready 3>&- &
    program=$!
    until [ -s ready ]; do sleep 0.05; done
    run -0 "$EXAMPLES/threads" $program 0.2
    kill $program
    [ "${#lines[@]}" -eq 5 ]
    [[ ${lines[1]} =~ ^\ *$program\ S\ +[0-9.]+\ +([0-9.]+|unknown)\ python3$ ]]
}

# bats test_tags=law
@test "the example process-states prints the states of a busy process, which add up" {
    (while :; do :; done) 3>&- &
    busy=$!
    run --separate-stderr "$EXAMPLES/process-states" $busy 0.5
    kill $busy
    if [[ $stderr == *CAP_BPF* || $stderr == *BTF* || $stderr == *'without microstates'* ]]; then skip "$stderr"; fi
    [ "$status" -eq 0 ]
    awk '$1 == "watched" { watched = $2 } $1 == "user" || $1 == "run_queue" { busy += $2 }
        $1 == "unaccounted" { unaccounted = $2; lines++ }
        END { print watched, busy, unaccounted; exit !(watched >= 0.4 && busy > 0.5 * watched &&
            lines == 1 && unaccounted > -0.001 && unaccounted < 0.001) }' <<<"$output"
    run -1 --separate-stderr "$EXAMPLES/process-states" 2147483647 0.1
    [[ $stderr == 'process-states: there was no thread of process 2147483647' ]]
}

@test "the examples report a wrong argument and an unknown process" {
    for example in busiest cpus disks networks; do
        run -2 --separate-stderr "$EXAMPLES/$example" never
        [[ $stderr == "usage: $example "* ]]
    done
    run -2 "$EXAMPLES/threads"
    run -1 --separate-stderr "$EXAMPLES/threads" 2147483647
    [[ $stderr == 'threads: '*'does not exist'* ]]
}
