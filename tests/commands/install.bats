#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# Uses what `make install` installs as another project does: with pkg-config and a C compiler.

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true # all tests use one build folder
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    ROOT=$BATS_FILE_TMPDIR/root
    export TREE ROOT
    # Uses a build folder of its own, so that build/release of the caller does not change.
    make -C "$TREE" install RELEASE=build/install-test PREFIX=/usr DESTDIR="$ROOT" >&2
    LIBRARY=$(find "$ROOT/usr/lib" -name 'libcamp.so.0.*' -type f)
    STATES=$(find "$ROOT/usr/lib" -name 'libcamp-states.so.0.*' -type f)
    PKG_CONFIG_LIBDIR=$(find "$ROOT/usr" -type d -name pkgconfig):$(pkg-config --variable pc_path pkg-config)
    export LIBRARY STATES PKG_CONFIG_LIBDIR
    export PKG_CONFIG_SYSROOT_DIR=$ROOT
}

declared_functions() { # of a public header
    cc -E -P -I"$ROOT/usr/include" "$1" | tr '\n' ' ' | grep -o 'visibility("default"))) [^;(]*(' |
        grep -o 'camp_[a-z0-9_]*($' | tr -d '('
}

stranger() { # a program that includes only the public header
    cat >"$BATS_TEST_TMPDIR/stranger.c" <<'END'
#include <camp/camp.h>
#include <stdio.h>
int main(void)
{
    struct camp_cpu total;
    struct camp_error error = { 0 };
    if (camp_cpu_read(NULL, CAMP_CPU_TOTAL, &total, sizeof total, &error) != CAMP_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%s %d\n", camp_version(), total.idle_ns > 0);
    return 0;
}
END
}

@test "the installed camp prints the version of the installed library" {
    run --separate-stderr "$ROOT/usr/bin/camp" --version
    [ "$status" -eq 0 ]
    [[ $output == *"$(pkg-config --modversion libcamp)"* ]]
}

@test "the installed camp finds its sample data after the installed tree is moved" {
    cd /
    run -0 "$ROOT/usr/bin/camp" top --from demo --count 1
    [[ $output == *'60 entities'* ]]
    mkdir "$BATS_TEST_TMPDIR/moved"
    cp -r "$ROOT/usr/bin" "$ROOT/usr/share" "$BATS_TEST_TMPDIR/moved/"
    run -0 "$BATS_TEST_TMPDIR/moved/bin/camp" top --from demo --count 1
    [[ $output == *'60 entities'* ]]
}

@test "the installed Python module can be imported with all its parts" {
    [ -e "$ROOT/usr/lib/python3/dist-packages/camp/py.typed" ]
    cd "$BATS_TEST_TMPDIR"
    PYTHONPATH=$ROOT/usr/lib/python3/dist-packages run /usr/bin/python3 -B -W error -c \
        'import camp.paper; print(camp.__file__, camp.cpu_count() > 0)'
    [ "$output" = "$ROOT/usr/lib/python3/dist-packages/camp/__init__.py True" ]
    PYTHONPATH=$ROOT/usr/lib/python3/dist-packages run /usr/bin/python3 -B -W error -m camp.campmon
    [ "$status" -eq 1 ]
    [[ $output == 'CAMPmon of the CAMP paper'*'python3 -m camp.campmon serve'* ]]
}

@test "a program builds with pkg-config and runs with the installed library" {
    stranger
    # pkg-config leaves out -L and -I of the system's folders, so they are given here.
    cc -Wall -Werror -I"$ROOT/usr/include" -o "$BATS_TEST_TMPDIR/stranger" \
        "$BATS_TEST_TMPDIR/stranger.c" -L"$(dirname "$LIBRARY")" $(pkg-config --cflags --libs libcamp)
    readelf -d "$BATS_TEST_TMPDIR/stranger" | grep -q 'NEEDED.*\[libcamp.so.0\]'
    LD_LIBRARY_PATH=$(dirname "$LIBRARY") run "$BATS_TEST_TMPDIR/stranger"
    [ "$status" -eq 0 ]
    [[ $output == *' 1' ]]
}

# A build without BPF has the library, too: each of its functions says so.
has_no_bpf() {
    "$ROOT/usr/bin/camp" doctor | grep -q 'built without microstates'
}

# reads_its_own_states COMMAND...: runs docs/examples/states/own-states.c. It computes for 0.1 s, and sleeps for 10 ms.
reads_its_own_states() {
    run "$@" 0.1
    echo "$output"
    [ "$status" -ne 77 ] || skip "microstates are unavailable: $output"
    [ "$status" -eq 0 ]
    [[ $output == *'sleep          unknown'* ]]
    awk '$1 == "watched" { watched = $2 } $2 + 0 > 0 && $1 != "watched" { sum += $2 }
        $1 == "timer" { timer = $2 } $1 ~ "user|system|trap|irq" { cpu += $2 }
        END { exit !(timer >= 0.01 && cpu >= 0.09 && sum > watched - 0.0001 && sum < watched + 0.0001) }' <<<"$output"
}

@test "a program reads its own states with the installed libcamp-states" {
    cc -Wall -Wextra -Werror -I"$ROOT/usr/include" -o "$BATS_TEST_TMPDIR/own-states" \
        "$TREE/docs/examples/states/own-states.c" -L"$(dirname "$LIBRARY")" $(pkg-config --cflags --libs libcamp-states)
    readelf -d "$BATS_TEST_TMPDIR/own-states" | grep -q 'NEEDED.*\[libcamp-states.so.0\]'
    run bash -c "readelf -d \"\$0\" | grep 'NEEDED.*libbpf'" "$BATS_TEST_TMPDIR/own-states"
    [ -z "$output" ] # only the library needs it
    LD_LIBRARY_PATH=$(dirname "$LIBRARY") reads_its_own_states "$BATS_TEST_TMPDIR/own-states"
}

@test "a program links statically to libcamp-states with pkg-config --static" {
    cc -I"$ROOT/usr/include" -o "$BATS_TEST_TMPDIR/own-states" "$TREE/docs/examples/states/own-states.c" \
        -L"$(dirname "$LIBRARY")" -Wl,-Bstatic -lcamp-states -lcamp -Wl,-Bdynamic \
        $(pkg-config --static --libs libcamp-states | sed 's/-lcamp-states//; s/-lcamp//')
    run bash -c "readelf -d \"\$0\" | grep 'NEEDED.*libcamp'" "$BATS_TEST_TMPDIR/own-states"
    [ -z "$output" ]
    reads_its_own_states "$BATS_TEST_TMPDIR/own-states"
}

@test "a program builds with CMake and runs with the installed library" {
    stranger
    cat >"$BATS_TEST_TMPDIR/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(stranger C)
find_package(libcamp 0.1 REQUIRED)
add_executable(stranger stranger.c)
target_link_libraries(stranger libcamp::libcamp)
END
    cd "$BATS_TEST_TMPDIR"
    cmake -S . -B built -Dlibcamp_DIR="$(dirname "$LIBRARY")/cmake/libcamp"
    cmake --build built
    run -0 ./built/stranger
    [[ $output == *' 1' ]]
    sed -i 's/libcamp 0.1/libcamp 99/' CMakeLists.txt
    run cmake -S . -B other -Dlibcamp_DIR="$(dirname "$LIBRARY")/cmake/libcamp"
    [ "$status" -ne 0 ]
    [[ $output == *99* ]]
}

@test "a program links statically to libcamp with pkg-config --static" {
    stranger
    cc -I"$ROOT/usr/include" -o "$BATS_TEST_TMPDIR/stranger" "$BATS_TEST_TMPDIR/stranger.c" \
        -L"$(dirname "$LIBRARY")" -Wl,-Bstatic -lcamp -Wl,-Bdynamic \
        $(pkg-config --static --libs libcamp | sed 's/-lcamp//')
    run "$BATS_TEST_TMPDIR/stranger"
    [ "$status" -eq 0 ]
}

exported_functions() { # of a shared library
    nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort
}

@test "each library exports exactly the functions of its public headers" {
    cd "$BATS_TEST_TMPDIR"
    declared_functions "$ROOT/usr/include/camp/states.h" | grep '^camp_state' | sort >states
    for header in "$ROOT"/usr/include/camp/*.h; do declared_functions "$header"; done |
        grep -v '^camp_state' | sort -u >declared
    [ "$(wc -l <declared)" -gt 30 ]
    [ "$(wc -l <states)" -gt 10 ]
    diff declared <(exported_functions "$LIBRARY")
    diff states <(exported_functions "$STATES")
}

@test "the static libraries define only names that begin with camp_" {
    for library in libcamp.a libcamp-states.a; do
        nm --defined-only --extern-only "$(dirname "$LIBRARY")/$library" | awk 'NF == 3 { print $3 }' >"$BATS_TEST_TMPDIR/names"
        [ "$(grep -c '^camp_' "$BATS_TEST_TMPDIR/names")" -gt 10 ]
        run grep -v '^camp_' "$BATS_TEST_TMPDIR/names"
        [ -z "$output" ]
    done
}

@test "the functions of the libraries have the symbol versions CAMP_0 and CAMP_STATES_0" {
    readelf -d "$LIBRARY" | grep -q 'SONAME.*\[libcamp.so.0\]'
    readelf -d "$STATES" | grep -q 'SONAME.*\[libcamp-states.so.0\]'
    run bash -c "nm -D --defined-only --with-symbol-versions \"\$0\" | grep ' T ' | grep -v '@@CAMP_0\$'" "$LIBRARY"
    [ -z "$output" ]
    run bash -c "nm -D --defined-only --with-symbol-versions \"\$0\" | grep ' T ' | grep -v '@@CAMP_STATES_0\$'" "$STATES"
    [ -z "$output" ]
}

needed_libraries() {
    readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort | tr '\n' ' '
}

@test "the libraries are linked only with libc, libcamp and libbpf" {
    [ "$(needed_libraries "$LIBRARY")" = "libc.so.6 " ]
    [ "$(needed_libraries "$STATES")" = "libbpf.so.1 libc.so.6 libcamp.so.0 " ] || has_no_bpf
}

@test "the stripped library is smaller than 128 KB" {
    strip -o "$BATS_TEST_TMPDIR/stripped.so" "$LIBRARY"
    [ "$(stat -c %s "$BATS_TEST_TMPDIR/stripped.so")" -lt $((128 * 1024)) ]
}

@test "libcamp has no writable data" {
    # The library has no global variables. Data of the compiler's start files is not counted.
    run bash -c "objdump -t \"\$0\" | grep -E '[[:space:]][.](data|bss)[[:space:]]' |
        grep -Ev ' d  [.]|__dso_handle|completed[.]0|__TMC_END__|__bss_start|_edata|_end'" "$LIBRARY"
    [ -z "$output" ]
}

@test "one command of the compiler builds the library without meson" {
    cd "$TREE"
    cc -Wall -Werror -fPIC -shared -Iinclude src/counters/*.c src/counters/linux/*.c \
        -o "$BATS_TEST_TMPDIR/libcamp.so"
    nm -D --defined-only "$BATS_TEST_TMPDIR/libcamp.so" | grep -q ' T camp_cpu_read_all$'
}

@test "the program of docs/library.md builds and runs with the installed library" {
    cd "$BATS_TEST_TMPDIR"
    sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$ROOT/usr/share/doc/camp/docs/library.md" >commands
    # pkg-config leaves out -L and -I of the system's folders, so the compiler finds them here.
    CPATH=$ROOT/usr/include LIBRARY_PATH=$(dirname "$LIBRARY") LD_LIBRARY_PATH=$(dirname "$LIBRARY") \
        run -0 bash -eu commands
    [[ $output =~ ^[1-9][0-9]*\ MB\ of\ memory,\ [1-9][0-9]*\ MB\ are\ free$ ]]
}

@test "the installed examples build with the installed library, and man finds the installed pages" {
    cd "$BATS_TEST_TMPDIR"
    for example in "$ROOT"/usr/share/doc/camp/docs/examples/*.c; do
        cc -std=c11 -Wall -Wextra -pedantic -Werror -I"$ROOT/usr/include" -o "$(basename "$example" .c)" "$example" \
            -L"$(dirname "$LIBRARY")" $(pkg-config --cflags --libs libcamp)
    done
    LD_LIBRARY_PATH=$(dirname "$LIBRARY") run -0 ./cpus 0.1
    MANPATH=$ROOT/usr/share/man run -0 man camp_process_read
    [[ $output == CAMP_PROCESS* ]]
}

@test "make install builds camp without its tests" {
    grep -q 'Dtests=disabled' "$TREE/build/install-test/camp-options"
    [ ! -e "$TREE/build/install-test/tests/unit" ]
}

@test "camp finds its sample data under the PREFIX of make install" {
    touch "$BATS_TEST_TMPDIR/before"
    env -u PKG_CONFIG_SYSROOT_DIR -u PKG_CONFIG_LIBDIR \
        make -C "$TREE" install RELEASE=build/install-test PREFIX="$BATS_TEST_TMPDIR/own, \"long\" prefix" DESTDIR= >&2
    compiled=$(find "$TREE/build/install-test" -name '*.o' -newer "$BATS_TEST_TMPDIR/before" | wc -l)
    echo "$compiled files compiled"
    [ "$compiled" -gt 0 ]
    [ "$compiled" -lt 20 ]
    cp "$BATS_TEST_TMPDIR/own, \"long\" prefix/bin/camp" "$BATS_TEST_TMPDIR/alone"
    run -0 "$BATS_TEST_TMPDIR/alone" top --from demo --count 1
    [[ $output == *'60 entities'* ]]
}

@test "make install reports a PREFIX without write permission in one line" {
    as_user=()
    if [ "$(id -u)" -eq 0 ]; then as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups); fi
    "${as_user[@]}" test -r "$TREE/Makefile" || skip "an ordinary user cannot read the tree"
    for words in PREFIX=/usr "PREFIX=/usr/no/such" "PREFIX=/ DESTDIR=/usr/x"; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr "${as_user[@]}" make -C "$TREE" -o release install \
            RELEASE=build/install-test $words
        [ "$(grep -vc '^make' <<<"$stderr")" -eq 0 ]
        [ "$(grep -c '^make install: /usr may not be written to: run it as root, or give PREFIX=' \
            <<<"$stderr")" -eq 1 ]
    done
}

@test "make uninstall removes exactly the files that make install installed" {
    away="$BATS_TEST_TMPDIR/an other root"
    mkdir -p "$away/usr/bin"
    touch "$away/usr/bin/other"
    run -0 make -C "$TREE" install RELEASE=build/install-test PREFIX=/usr DESTDIR="$away"
    [[ $output == *"make install: camp is $away/usr/bin/camp; make uninstall removes it"* ]]
    "$away/usr/bin/camp" --version
    mkdir "$away/usr/lib/python3/dist-packages/camp/__pycache__"
    touch "$away/usr/lib/python3/dist-packages/camp/__pycache__/records.pyc"
    run -0 make -C "$TREE" uninstall RELEASE=build/install-test
    [[ $output == *"make uninstall: "*" files removed"* ]]
    find "$away" -type f
    [ "$(find "$away" -type f)" = "$away/usr/bin/other" ]
    [ "$(find "$away" -type d -empty)" = "" ]
    run -2 make -C "$TREE" uninstall RELEASE=build/install-test # the status of make
    [[ $output == *"has no log of an installation, so there is nothing to remove"* ]]
}
