#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# Checks the parts of packages that can be checked without building them (packaging/trial builds them).

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    BUILD=$(dirname "$(dirname "$CAMP")")
    UNITS=$BUILD/packaging/systemd
}

@test "each installed file is in exactly one package" {
    run /usr/bin/python3 "$TREE/tests/commands/package_lists.py" "$BUILD" "$TREE/debian"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "package_lists.py reports a file that is in two packages or in none" {
    cp -r "$TREE/debian" "$BATS_TEST_TMPDIR/"
    cd "$BATS_TEST_TMPDIR/debian"
    echo 'usr/bin/camp' >>libcamp-dev.install
    echo 'usr/bin/gone' >>camp.install
    sed -i '/include/d' libcamp-dev.install
    run /usr/bin/python3 "$TREE/tests/commands/package_lists.py" "$BUILD" .
    [ "$status" -eq 1 ]
    [ "${lines[0]}" = 'usr/bin/camp: in camp and libcamp-dev' ]
    [ "${lines[1]}" = 'usr/include/camp/camp.h: in no package' ]
    [ "${lines[-1]}" = 'camp.install: usr/bin/gone: is not installed' ]
}

@test "debian/*.symbols list exactly the functions that the libraries export" {
    for library in counters/libcamp microstates/libcamp-states; do
        nm -D --defined-only --with-symbol-versions "$BUILD"/src/"$library".so.0.*.[0-9] |
            awk '{ sub(/@.*/, "", $3); print $3 }' | sort >"$BATS_TEST_TMPDIR/exported"
        sed -n 's/^ \([^@]*\)@.*/\1/p' "$TREE/debian/${library#*/}0.symbols" | sort |
            diff - "$BATS_TEST_TMPDIR/exported"
    done
}

@test "debian/control lists every build dependency that tools/setup installs" {
    for package in $("$TREE/tools/setup" --list build | grep -v -x -e gcc -e libc6-dev -e make -e ninja-build); do
        echo "$package: not in debian/control"
        grep -q "^  *\(Build-Depends: \)\?$package\b" "$TREE/debian/control"
    done
}

@test "the packages and the program have the same version number" {
    version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$TREE/debian/changelog")
    [ "$("$CAMP" --version)" = "camp $version" ]
}

@test "sh finds no syntax error in the scripts of the packages" {
    for script in "$TREE"/debian/*.post* "$TREE"/debian/tests/stranger "$TREE"/packaging/build; do
        sh -n "$script"
    done
}

@test "systemd-analyze security rates the exposure of each service as at most 2.0" {
    for unit in camp-exporter camp-record; do
        run systemd-analyze security --no-pager --offline=true --threshold=20 "$UNITS/$unit.service"
        echo "${lines[-1]}"
        [ "$status" -eq 0 ]
    done
}

@test "systemd-analyze verify accepts the installed services" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    ln -s "$CAMP" "${CAMP%/*}/camp-exporter" "$BATS_TEST_TMPDIR/bin"
    for unit in camp-exporter camp-record; do
        sed "s,^ExecStart=.*/bin,ExecStart=$BATS_TEST_TMPDIR/bin," "$UNITS/$unit.service" \
            >"$BATS_TEST_TMPDIR/$unit.service"
        run systemd-analyze verify --man=no "$BATS_TEST_TMPDIR/$unit.service"
        echo "$output"
        [ "$status" -eq 0 ]
        [ -z "$output" ]
    done
}

# as_service WORD...: runs a command with the capabilities that the unit of the service gives, and no others.
as_service() {
    local given
    given=$(sed -n 's/^AmbientCapabilities=//p' "$UNITS/camp-exporter.service" |
        tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
    setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --inh-caps="$given" \
        --ambient-caps="$given" --bounding-set="-all,$given" "$@"
}

@test "camp-exporter measures thread states with only the capabilities of its systemd service" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    "$CAMP" doctor --format json | grep -q '"microstates":true' || skip "no microstates here"
    cp "$CAMP-exporter" "$BATS_TEST_TMPDIR/"
    chmod 755 "$BATS_RUN_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")" "$BATS_TEST_TMPDIR"
    run as_service "$BATS_TEST_TMPDIR/camp-exporter" --once --interval 0.1
    [ "$status" -eq 0 ]
    [[ $output == *'camp_exporter_info{'*'tier="bpf"'* ]]
    # All capabilities are needed: if one is missing, the exporter runs without the states.
    for less in -bpf -perfmon; do
        run --separate-stderr as_service setpriv --inh-caps=$less --ambient-caps=$less \
            "$BATS_TEST_TMPDIR/camp-exporter" --once --interval 0.1
        [[ $output != *'tier="bpf"'* ]]
    done
}

# configure LINE VERSION: runs debian/camp.postinst after an installed VERSION (or ''), with stand-ins for the programs
# that it calls. The system has the LINE of getent for the group camp, or no such group; and an override if the
# administrator set owner and mode. Prints the calls that change the system.
configure() {
    local folder=$BATS_TEST_TMPDIR/stand-ins
    export LINE=$1 OVERRIDE=$BATS_TEST_TMPDIR/override
    mkdir -p "$folder"
    printf '#!/bin/sh\n%s\n' '[ "$1" != passwd ] || exec echo root:x:0:0:::; [ -n "$LINE" ] && echo "$LINE"' >"$folder/getent"
    printf '#!/bin/sh\n%s\n' 'case $1 in --list) [ -e "$OVERRIDE" ] ;; *) touch "$OVERRIDE"; echo "override $*" ;; esac' \
        >"$folder/dpkg-statoverride"
    for name in addgroup setcap; do
        printf '#!/bin/sh\necho %s "$@"\n' $name >"$folder/$name"
    done
    chmod +x "$folder"/*
    PATH=$folder:$PATH sh "$TREE/debian/camp.postinst" configure "$2"
}

@test "the package gives capabilities with its own group, and never with a group that had members before" {
    capabilities='setcap cap_net_admin,cap_bpf,cap_perfmon=p /usr/bin/camp'
    run -0 configure '' ''
    [ "$output" = "addgroup --quiet --system camp
$capabilities" ]
    run -0 configure camp:x:990:alice 0.1.0 # a member since the first installation
    [ "$output" = "$capabilities" ]
    run -0 configure camp:x:990: '' # no members
    [ "$output" = "$capabilities" ]
    for line in camp:x:1000:alice camp:x:0:; do # 0 is the group of a user
        run -0 configure "$line" ''
        [ "${lines[0]}" = 'override --update --add root root 0755 /usr/bin/camp' ]
        [[ ${lines[1]} == 'camp: there was a group camp with members before, so only root measures'* ]]
        [ "${#lines[@]}" = 2 ]
        run -0 configure "$line" 0.1.0 # the next version
        [ "$output" = '' ]
        rm "$BATS_TEST_TMPDIR/override"
    done
}
