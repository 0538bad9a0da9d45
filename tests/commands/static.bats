#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# The scripts that build camp as one static file. tests/static/run runs the file.

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    cd "$BATS_TEST_TMPDIR" || return
}

# make_archive NAME FUNCTION...: NAME.a with an object that calls the functions.
make_archive() {
    local name=$1
    shift
    { printf 'int %s(void);\n' "$@" && printf 'int used(void) { return 0 %s; }\n' "$(printf '+ %s()' "$@")"; } >"$name.c"
    "${CC:-cc}" -c -w -fno-builtin "$name.c"
    ar rcs "$name.a" "$name.o"
}

@test "an ARCH in the environment does not choose the architecture of make static" {
    run env ARCH=x86_64 make -C "$TREE" -n static
    [ "$status" = 0 ]
    [[ $output == *packaging/static/build* && $output != *x86_64* ]]
    run env ARCH=x86_64 make -C "$TREE" -n static ARCH=arm64
    [[ $output == *static-arm64* && $output == *'packaging/static/build arm64'* ]]
}

@test "functions that load modules of the C library are found in archives" {
    make_archive first getaddrinfo getpwuid_r strlen
    make_archive second getpwnam getgrnam
    run --separate-stderr "$TREE/packaging/static/loaders" nm first.a second.a
    [ "$status" = 0 ]
    [ "$output" = $'getaddrinfo\ngetpwnam' ]
    make_archive third strlen
    run --separate-stderr "$TREE/packaging/static/loaders" nm third.a
    [ "$status" = 0 ]
    [ "$output" = '' ]
}

@test "an archive that nm cannot read is reported" {
    make_archive first strlen
    echo text >broken.a
    run --separate-stderr "$TREE/packaging/static/loaders" nm first.a broken.a
    [ "$status" != 0 ]
    [[ $stderr == *broken.a* ]]
}

@test "the libraries of a root with a blank in its name are found there" {
    printf 'prefix=/usr\nName: one\nDescription: one\nVersion: 1.2\nCflags: -I${prefix}/include/one\nLibs: -L/opt/one -lone\n' >one.pc
    run --separate-stderr env PKG_CONFIG_SYSROOT_DIR="/a b" PKG_CONFIG_LIBDIR="$PWD" \
        "$TREE/packaging/static/pkg-config" --cflags --libs one
    [ "$status" = 0 ]
    eval "words=($output)"
    [ "${words[*]}" = '-I/a b/usr/include/one -L/a b/opt/one -lone' ] && [ "${#words[@]}" = 3 ]
    run env PKG_CONFIG_SYSROOT_DIR="/a b" PKG_CONFIG_LIBDIR="$PWD" "$TREE/packaging/static/pkg-config" --cflags none
    [ "$status" != 0 ]
}
