# The targets. Each one checks what it needs (tools/setup), installs missing Debian packages when it may,
# and otherwise prints the one line to run. Meson builds.
#
#   make run        build, then `camp check` on this machine's processes for three intervals
#   make test       is this build right on this machine? The last line is "N passed, N failed, ..."
#   make deep       sanitizers, fuzzers, failed calls, lint, other compilers and systems: about 50 minutes
#   make bench      camp beside its peers, as ratios in one run
#   make paper      the CAMP paper's evaluations, repeated: a report; PAPER=--quick for 3 minutes
#   make fuzz       every parser against random bytes: FUZZ_SECONDS each (60)
#   make torture    each allocation and each system call of every command fails in turn
#   make page       web/dist/page.html from web/src/, after a change of the page: node and npm
#   make lint       format, layers, types, the built page; clang-tidy, cppcheck, gcc -fanalyzer, shellcheck, illumos, musl, i386
#   make coverage   the share of src/ that the tests reach
#   make install    PREFIX (/usr/local), DESTDIR
#   make uninstall  removes what the last make install wrote
#   make deb        Debian packages, in build/deb (docs/install.md)
#   make static     camp as one static file for any Linux: build/static/amd64/camp (docs/install.md); ARCH=arm64
#   make image      an OCI image with that file, for amd64 and arm64: build/image
#   make clean      removes build/
#   make help       this list

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
PAPER ?=
# Only from the command line: builds of the kernel export another ARCH.
ifneq ($(origin ARCH),command line)
ARCH =
endif
RELEASE = build/release
# A folder as one word for the shell, with any characters in its name.
quoted = '$(subst ','\'',$(1))'
# meson knows Debian's lib/x86_64-linux-gnu only if dpkg-dev is installed, but each compiler has its
# headers in a folder of that name. This runs in the recipe, after tools/setup has installed a compiler.
LIBDIR = $$($${CC:-cc} -M -x c -include asm/types.h /dev/null 2>/dev/null | \
    sed -n "s,.*/usr/include/\([^/ ]*\)/asm/types.h.*,--libdir=lib/\1,p")
# Meson must not see the options of make itself, such as -j.
MAKEFLAGS += --no-print-directory

.PHONY: all run test deep bench paper fuzz torture page lint coverage install uninstall deb static image format clean help
all: release

.PHONY: release
release:
	@tools/setup build
	@tools/build $(RELEASE) --prefix=$(call quoted,$(PREFIX)) $(LIBDIR) -Dtests=disabled

run: release
	$(RELEASE)/src/camp check --count 3

test:
	@tools/setup build test page
	@tools/run-tests

deep:
	@tools/setup build test page fuzz lint systems windows kernels trial static static-arm64 static-run containers
	@tools/run-deep

bench: release
	@tools/setup build bench
	@tools/build build/bench -Dtests=disabled -Dbench=enabled
	@bench/run build/bench

paper:
	@tools/setup build bench
	@tools/build build/bench -Dtests=disabled -Dbench=enabled
	@bench/paper/run --output build/paper.html $(PAPER)

fuzz:
	@tools/setup build fuzz page
	@tools/fuzz $(FUZZ_SECONDS)

torture:
	@tools/setup build test
	@tools/torture

page:
	@tools/setup page
	@tools/page

lint:
	@tools/setup build test page lint
	@tools/lint

coverage:
	@tools/setup build test coverage
	@tools/coverage

install: release
	@folder="$$(realpath -m $(call quoted,$(DESTDIR)/$(PREFIX)))"; \
	while [ ! -e "$$folder" ]; do folder=$$(dirname "$$folder"); done; \
	[ -w "$$folder" ] || { echo "make install: $$folder may not be written to: run it as root," \
	    "or give PREFIX=\$$HOME/.local (or DESTDIR)" >&2; exit 1; }
	@meson install -C $(RELEASE) --no-rebuild --quiet $(if $(DESTDIR),--destdir "$$(realpath -m $(call quoted,$(DESTDIR)))")
	@if [ -z $(call quoted,$(DESTDIR)) ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi
	@echo "make install: camp is "$(call quoted,$(DESTDIR)$(PREFIX)/bin/camp)"; make uninstall removes it"

uninstall:
	@tools/uninstall $(RELEASE)
	@if [ "$$(id -u)" = 0 ]; then ldconfig; fi

deb:
	@tools/setup build deb
	@packaging/build

static:
	@tools/setup build static $(if $(ARCH),static-$(ARCH))
	@packaging/static/build $(ARCH)

image:
	@tools/setup build static static-amd64 static-arm64
	@packaging/static/build amd64
	@packaging/static/build arm64
	@packaging/static/image build/image

format:
	@tools/setup lint
	@tools/check-format --fix

clean:
	rm -rf build

help:
	@sed -n 's/^#   \(make [a-z]* .*\)/\1/p' Makefile
