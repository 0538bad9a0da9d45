#!/usr/bin/env bats

bats_require_minimum_version 1.5.0
# Checks the packaging files of Fedora, Alpine and Arch against the files that this build installs, and against the
# packages that tools/setup names. It runs rpmbuild and makepkg, and does itself what abuild would do.

setup() {
    TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    CAMP=${CAMP:-$TREE/build/gcc/src/camp}
    BUILD=$(dirname "$(dirname "$CAMP")")
    PREFIX=$(build_option prefix)
    LIBRARIES=$(build_option libdir)
    VERSION=$("$CAMP" --version)
    VERSION=${VERSION#camp }
}

build_option() {
    meson introspect "$BUILD" --buildoptions | /usr/bin/python3 -c '
import json, sys
print(next(option["value"] for option in json.load(sys.stdin) if option["name"] == sys.argv[1]))' "$1"
}

# make_source FOLDER: the archive that the files name as their source, with what they read of it.
make_source() {
    mkdir -p "$1/camp-$VERSION"
    cp "$TREE/LICENSE" "$1/camp-$VERSION"
    tar -C "$1" -czf "$1/camp-$VERSION.tar.gz" "camp-$VERSION"
    rm -r "$1/camp-$VERSION"
}

# installed_files FOLDER: what the build installs, with /usr for its prefix, sorted.
installed_files() {
    meson install -C "$BUILD" --no-rebuild --quiet --destdir "$1"
    (cd "$1$PREFIX" && find . ! -type d | sed 's,^\.,usr,' | LC_ALL=C sort)
}

# make_rpms SPEC: runs rpmbuild with the macros that packages of Fedora define. The build is this one.
make_rpms() {
    local top=$BATS_TEST_TMPDIR/rpm
    mkdir -p "$top/SOURCES"
    make_source "$top/SOURCES"
    rpmbuild -bb --nodeps --nocheck --quiet --define "_topdir $top" --define "_prefix $PREFIX" --define '_lib lib64' \
        --define "_libdir $PREFIX/$LIBRARIES" --define "_unitdir $PREFIX/lib/systemd/system" \
        --define "_datadir $PREFIX/share" --define '__os_install_post %{nil}' --define "_docdir $PREFIX/share/doc" --define "_mandir $PREFIX/share/man" --define 'dist .test' \
        --define "python3_sitearch $(python_folder)" --define 'meson(-) :' --define 'meson_build :' \
        --define "meson_install DESTDIR=%{buildroot} meson install -C '$BUILD' --no-rebuild --quiet" \
        --define 'meson_test(-) :' --define 'systemd_post(-) :' --define 'systemd_preun(-) :' \
        --define 'systemd_postun_with_restart(-) :' --define 'debug_package %{nil}' --define '_build_id_links none' "$1"
}

python_folder() {
    meson introspect "$BUILD" --installed | grep -o '"[^"]*/camp/paper.py"' | tail -1 | tr -d '"' | sed 's,/camp/paper.py,,'
}

@test "each installed file is in one package of the RPM spec, and each file of the spec is installed" {
    make_rpms "$TREE/packaging/fedora/camp.spec"
    installed_files "$BATS_TEST_TMPDIR/all" >"$BATS_TEST_TMPDIR/installed"
    for package in "$BATS_TEST_TMPDIR"/rpm/RPMS/*/*.rpm; do
        rpm -qp --qf '[%{filemodes:perms} %{filenames}\n]' "$package"
    done | sed -n 's/^[^d][^ ]* //p' | grep -v /share/licenses/ | sed "s,^$PREFIX,usr," | LC_ALL=C sort >"$BATS_TEST_TMPDIR/packaged"
    diff "$BATS_TEST_TMPDIR/installed" "$BATS_TEST_TMPDIR/packaged"
    [ "$(ls "$BATS_TEST_TMPDIR"/rpm/RPMS/*/*.rpm | wc -l)" = 7 ]
}

@test "rpmbuild refuses the spec when a file is in no package, or a listed file is not installed" {
    sed '/states.h$/d' "$TREE/packaging/fedora/camp.spec" >"$BATS_TEST_TMPDIR/camp.spec"
    run make_rpms "$BATS_TEST_TMPDIR/camp.spec"
    [ "$status" -ne 0 ]
    [[ $output == *include/camp/states.h* ]]
    sed 's,/camp/states.h$,/camp/gone.h,' "$TREE/packaging/fedora/camp.spec" >"$BATS_TEST_TMPDIR/camp.spec"
    run make_rpms "$BATS_TEST_TMPDIR/camp.spec"
    [ "$status" -ne 0 ]
    [[ $output == *gone.h* ]]
}

# Stand-ins for meson and its wrappers in these systems: `install` installs this build, with libraries in /usr/lib.
make_stand_ins() {
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    cat >"$BATS_TEST_TMPDIR/bin/meson" <<END
#!/bin/sh
[ "\$1" = install ] || exit 0
for word; do folder=\$word; done
mkdir -p "\$folder/usr"
cp -a "$BATS_TEST_TMPDIR/all$PREFIX/." "\$folder/usr"
if [ "$LIBRARIES" != lib ]; then
    cp -a "\$folder/usr/$LIBRARIES/." "\$folder/usr/lib"
    rm -r "\$folder/usr/$LIBRARIES"
fi
END
    sed -i "s,^usr/$LIBRARIES/,usr/lib/," "$BATS_TEST_TMPDIR/installed"
    LC_ALL=C sort -o "$BATS_TEST_TMPDIR/installed"{,}
    printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/bin/arch-meson"
    printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/bin/pacman" # Debian's makepkg asks it for the installed packages
    printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/bin/abuild-meson"
    chmod +x "$BATS_TEST_TMPDIR"/bin/*
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

@test "makepkg makes a package of all installed files with the PKGBUILD" {
    installed_files "$BATS_TEST_TMPDIR/all" >"$BATS_TEST_TMPDIR/installed"
    make_stand_ins
    folder=$BATS_TEST_TMPDIR/arch
    mkdir "$folder"
    cp "$TREE/packaging/arch/PKGBUILD" "$folder"
    make_source "$folder"
    chmod 755 "$BATS_RUN_TMPDIR" "${BATS_TEST_TMPDIR%/*}" "$BATS_TEST_TMPDIR"
    as_user=
    if [ "$(id -u)" = 0 ]; then # makepkg refuses to run as root
        chown -R nobody "$folder"
        as_user='runuser -u nobody --'
    fi
    (cd "$folder" && HOME=$folder $as_user env PATH="$PATH" PKGEXT=.pkg.tar makepkg --nodeps --nocheck --noconfirm)
    tar -tf "$folder"/camp-"$VERSION"-1-*.pkg.tar | grep -v -e '/$' -e '^\.' -e ^usr/share/licenses/ | sed 's/\.gz$//' |
        LC_ALL=C sort >"$BATS_TEST_TMPDIR/packaged"
    diff "$BATS_TEST_TMPDIR/installed" "$BATS_TEST_TMPDIR/packaged"
}

# The part of abuild: amove moves from the main package to the one at hand, and refuses what is not there.
amove() {
    local path found
    for path; do
        for found in "$pkgdir"/$path; do
            [ -e "$found" ] || [ -L "$found" ] || { echo "amove: $path is not installed" && exit 1; }
            mkdir -p "$subpkgdir/$(dirname "${found#"$pkgdir"/}")"
            mv "$found" "$subpkgdir/${found#"$pkgdir"/}"
        done
    done
}

# make_apks APKBUILD: moves all files to $BATS_TEST_TMPDIR/PACKAGE as abuild does.
make_apks() {
    local entry main=$BATS_TEST_TMPDIR/apk/camp
    installed_files "$BATS_TEST_TMPDIR/all" >"$BATS_TEST_TMPDIR/installed"
    make_stand_ins
    (
        set -e
        # shellcheck disable=SC1090  # the APKBUILD
        . "$1"
        pkgdir=$main
        package
        for entry in $subpackages; do
            subpkgdir=$BATS_TEST_TMPDIR/apk/${entry%%:*}
            (
                function=${entry#*:}
                case $entry in *:*) ;; *) function=${entry##*-} ;; esac
                "$function"
            ) || exit 1
        done
    )
}

@test "the functions of the APKBUILD divide all installed files, and the main package keeps the program and its data" {
    make_apks "$TREE/packaging/alpine/APKBUILD"
    run bash -c 'cd "$1" && find . ! -type d | cut -d/ -f2-4 | sort -u' sh "$BATS_TEST_TMPDIR/apk/camp"
    [ "$output" = 'usr/bin/camp
usr/share/camp' ]
    (cd "$BATS_TEST_TMPDIR/apk" && find . ! -type d | cut -d/ -f3- | LC_ALL=C sort) |
        diff <(grep -v ^usr/lib/systemd "$BATS_TEST_TMPDIR/installed") -
    [ "$(ls "$BATS_TEST_TMPDIR/apk" | wc -l)" = 11 ]
}

@test "a file of the APKBUILD that is not installed is reported" {
    sed 's,camp/states.h,camp/gone.h,' "$TREE/packaging/alpine/APKBUILD" >"$BATS_TEST_TMPDIR/APKBUILD"
    run make_apks "$BATS_TEST_TMPDIR/APKBUILD"
    [ "$status" -ne 0 ]
    [[ $output == *'amove: usr/include/camp/gone.h is not installed'* ]]
}

# build_packages MANAGER: the packages of tools/setup for a build, a line each.
build_packages() {
    "$TREE/tools/setup" --list --manager "$1" build
}

@test "the packaging files ask for the packages that tools/setup installs for a build" {
    # A build of packages has a compiler, a C library and ninja anyway.
    diff <(build_packages dnf | grep -v -x -e glibc-devel -e make -e /usr/bin/.*) \
        <(sed -n 's/^BuildRequires:  *\([^ ]*\).*/\1/p' "$TREE/packaging/fedora/camp.spec" |
            grep -v -e macros -e cmocka | sort)
    diff <(build_packages apk) \
        <(. "$TREE/packaging/alpine/APKBUILD"; printf '%s\n' $makedepends | sort)
    diff <(build_packages pacman | grep -v -x -e gcc -e make -e ninja -e pkgconf) \
        <(. "$TREE/packaging/arch/PKGBUILD"; printf '%s\n' "${makedepends[@]}" "${depends[@]}" | sort)
}

@test "the packaging files have the version of the program" {
    grep -qx "Version:        $VERSION" "$TREE/packaging/fedora/camp.spec"
    grep -qx "pkgver=$VERSION" "$TREE/packaging/alpine/APKBUILD"
    grep -qx "pkgver=$VERSION" "$TREE/packaging/arch/PKGBUILD"
}

# on_system MANAGER PACKAGE...: runs tools/setup in a system with this package manager, where these packages are
# installed. Prints what it would run.
on_system() {
    local manager=$1 bin=$BATS_TEST_TMPDIR/$1
    shift
    mkdir -p "$bin"
    for tool in sh awk id cat sort printf env; do ln -sf "$(command -v $tool)" "$bin/$tool"; done
    printf '#!/bin/sh\necho "%s $*"\n' "$manager" >"$bin/$manager"
    printf '%s\n' "$@" >"$BATS_TEST_TMPDIR/installed"
    cat >"$bin/query" <<END
#!/bin/sh
for word; do :; done
case \$1 in info | -q | -T) while read -r name; do [ "\$name" != "\$word" ] || exit 0; done <"$BATS_TEST_TMPDIR/installed" ; exit 1 ;; esac
echo "${manager} \$*"
END
    chmod +x "$bin"/query "$bin/$manager"
    case $manager in
    dnf | zypper) ln -sf query "$bin/rpm" ;;
    *) ln -sf query "$bin/$manager" ;;
    esac
    PATH=$bin "$bin/sh" "$TREE/tools/setup" build 2>&1
}

@test "tools/setup installs what a build lacks on Fedora, openSUSE, Alpine and Arch" {
    [ "$(id -u)" = 0 ] || skip "needs root: the next test shows what other users see"
    for manager in dnf zypper apk pacman; do
        all=$("$TREE/tools/setup" --list --manager $manager build)
        run on_system $manager $all
        [ "$status" -eq 0 ]
        [ "$output" = '' ]
        run on_system $manager $(grep -v -x -e meson <<<"$all")
        [ "$status" -eq 0 ]
        [[ ${lines[1]} == "$manager "*' meson' ]]
        [ "${#lines[@]}" = 2 ]
    done
}

# as_ordinary_user: runs tools/setup as on_system dnf does, where nothing is installed, but never as root.
as_ordinary_user() {
    if [ "$(id -u)" = 0 ]; then
        chmod 755 "$BATS_RUN_TMPDIR" "${BATS_TEST_TMPDIR%/*}" "$BATS_TEST_TMPDIR"
        on_system dnf >/dev/null
        cp "$TREE/tools/setup" "$BATS_TEST_TMPDIR/setup"
        runuser -u nobody -- env PATH="$BATS_TEST_TMPDIR/dnf" sh "$BATS_TEST_TMPDIR/setup" build 2>&1
    else
        on_system dnf
    fi
}

@test "tools/setup tells an ordinary user of Fedora the command" {
    run as_ordinary_user
    [ "$status" -eq 1 ]
    [ "${lines[0]}" = 'Some packages are missing. As root, run:' ]
    [[ ${lines[1]} == "dnf install -y "*"'pkgconfig(libbpf)'"* ]]
}

@test "tools/setup installs on Fedora by sudo if it needs no password" {
    mkdir -p "$BATS_TEST_TMPDIR/dnf"
    printf '#!/bin/sh\n[ "$1" = -n ] && shift && "$@"\n' >"$BATS_TEST_TMPDIR/dnf/sudo"
    chmod +x "$BATS_TEST_TMPDIR/dnf/sudo"
    run as_ordinary_user
    [ "$status" -eq 0 ]
    [[ ${lines[1]} == "dnf install -y "*'pkgconfig(zlib)'* ]]
}

@test "tools/setup --list refuses an unknown package manager" {
    run -2 "$TREE/tools/setup" --list --manager brew build
    [[ $output == *'--manager takes dnf, zypper, apk or pacman'* ]]
}
