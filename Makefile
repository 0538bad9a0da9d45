# What a person types. Each target checks what it needs (tools/setup), installs missing Debian
# packages when it may, and says the one line to run when it may not. Meson does the building.
#
#   make run        build, then `camp check` on this machine's processes for three intervals
#   make test       everything that must hold before a commit; ends in "N passed, N failed"
#   make bench      camp beside its peers, as ratios in one run
#   make paper      the CAMP paper's evaluations, repeated: a report; PAPER=--quick for 3 minutes
#   make fuzz       every parser against random bytes: FUZZ_SECONDS each (60)
#   make page       web/dist/page.html from web/src/: node and npm, for who changes the page
#   make lint       clang-tidy, cppcheck, shellcheck
#   make coverage   the share of src/ that the tests reach
#   make install    PREFIX (/usr/local), DESTDIR
#   make deb        Debian packages, in build/deb (docs/install.md)
#   make clean      removes build/

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
PAPER ?=
RELEASE = build/release
# meson knows Debian's lib/x86_64-linux-gnu only where dpkg-dev is installed; the compiler always
# does. Asked in the recipe, when tools/setup has seen to it that there is a compiler.
LIBDIR = $$(gcc -print-multiarch 2>/dev/null | sed -n "s,^..*,--libdir=lib/&,p")
# Of make itself: a `make -j` of the caller is none of meson's business.
MAKEFLAGS += --no-print-directory

.PHONY: all run test bench paper fuzz page lint coverage install deb format clean
all: release

.PHONY: release
release:
	@tools/setup build
	@tools/build $(RELEASE) --prefix=$(PREFIX) $(LIBDIR) -Dtests=disabled

run: release
	$(RELEASE)/src/camp check --count 3

test:
	@tools/setup build test page fuzz
	@tools/run-tests

bench: release
	@tools/setup build bench
	@tools/build build/bench -Dtests=disabled -Dbench=enabled
	@bench/run build/bench

paper:
	@tools/setup build bench
	@tools/build build/bench -Dtests=disabled -Dbench=enabled
	@bench/paper/run --output build/paper.html $(PAPER)

fuzz:
	@tools/setup build fuzz
	@tools/fuzz $(FUZZ_SECONDS)

page:
	@tools/setup page
	@tools/page

lint:
	@tools/setup build test lint
	@tools/lint

coverage:
	@tools/setup build test coverage
	@tools/coverage

install: release
	@folder="$(abspath $(DESTDIR)/$(PREFIX))"; \
	while [ ! -e "$$folder" ]; do folder=$$(dirname "$$folder"); done; \
	[ -w "$$folder" ] || { echo "make install: $$folder may not be written to: run it as root," \
	    "or give PREFIX=\$$HOME/.local (or DESTDIR)" >&2; exit 1; }
	@meson install -C $(RELEASE) --no-rebuild --quiet $(if $(DESTDIR),--destdir "$(abspath $(DESTDIR))")
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

deb:
	@tools/setup build deb
	@packaging/build

format:
	@tools/setup test
	@tools/check-format --fix

clean:
	rm -rf build
