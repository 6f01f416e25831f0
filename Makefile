# SPDX-License-Identifier: MIT
# make            build/rld, build/rlctl, build/rl-shim, build/rl-git       make deps      install what Debian needs
# make check      the fast tests: at most 7 minutes on two    make check-all every test: both compilers, sanitizers, places, plants
#                 quiet processors                            make plants    bugs, planted one at a time: the tests notice each
# make lint       the laws of docs/architecture.md            make bench     ratios against peers
# make check-agents  the presets with the real programs       make check-places  make check where it is harder: other users, containers, a busy machine
# make check-power CUTS=n FILLS=n  power cuts and full disks (root)
# make check-evidence  tricks of a hostile coder
# make check-pairs     1,000 pairs of tasks that break each other only when merged
# make check-night     a hundred tasks in eight slots, and all that goes wrong       make check-makespan UNIT=s  their time against list scheduling
# make check-boot      the package on a machine with a real systemd (root; make deps-boot)       make check-deb  lintian, and the same bytes twice
# make sim SEEDS=n  make fuzz SECONDS=n                       make demo      the main job on a scratch repository
# make fault KIND="calls errors" COUNT=n SEED=n  kills and failing calls, at each place or at n of them; KIND=leaks: none, many runs
# make screenshots  the pictures of docs/screenshots again
# make openrpc    docs/openrpc.json and docs/clients again; SINCE=REV: what changed since then
# make install DESTDIR= PREFIX=                               make deb       a Debian package, in build/deb (make deps-deb)
# SAN=1: ASan and UBSan, in build-san.  SAN=thread: TSan, in build-tsan.  DEV=1: warnings are errors.  CC=clang works as well.

VERSION  = 0.1.0
PREFIX  ?= /usr/local
B       ?= build$(if $(SAN),-$(if $(filter thread,$(SAN)),t)san)
ifeq ($(origin CC),default)
CC       = gcc
endif
ifeq ($(origin CXX),default)
CXX      = $(if $(findstring clang,$(CC)),clang++,g++)
endif
PYTHON  ?= /usr/bin/python3
PKGS     = libuv sqlite3 jansson libbsd-overlay libmd libcmark yaml-0.1

WARN     = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wvla \
           -Wformat=2 -Wswitch-enum $(if $(DEV),-Werror)
WARNXX   = -Wall -Wextra -Wshadow -Wpointer-arith -Wformat=2 $(if $(DEV),-Werror)
HARDEN   = -fstack-protector-strong -fstack-clash-protection -fPIE $(if $(SAN),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3) \
           $(if $(filter x86_64,$(shell uname -m)),-fcf-protection=full)
SANFLAGS = $(if $(SAN),-fsanitize=$(if $(filter thread,$(SAN)),thread,address$(comma)undefined -fno-sanitize-recover=undefined) \
           -fno-omit-frame-pointer)
comma   := ,
OPT     ?= -O2 -g
CPPFLAGS += -D_GNU_SOURCE -DRLD_VERSION='"$(VERSION)"' -DRLD_LIBEXEC='"$(PREFIX)/libexec"' -I. -Idaemon -I$(B)/gen $(shell pkg-config --cflags $(PKGS))
CFLAGS   += -std=gnu11 $(OPT) $(WARN) $(HARDEN) $(SANFLAGS) $(EXTRA)
CXXFLAGS += -std=c++17 $(OPT) $(WARNXX) $(HARDEN) $(SANFLAGS) $(if $(SAN),-fno-sanitize=vptr) $(shell pkg-config --cflags tomlplusplus)
LDFLAGS  += -pie -Wl,-z,relro,-z,now,-z,noexecstack $(SANFLAGS)
LDLIBS_RLD   = $(shell pkg-config --libs $(PKGS) tomlplusplus) -lstdc++ -lpthread -lm
LDLIBS_GIT   = $(shell pkg-config --libs --static jansson libbsd-overlay libmd) -lm
LDLIBS_RLCTL = $(shell pkg-config --libs jansson libbsd-overlay libmicrohttpd) -lm

ROOMS    = core model txn job evidence sched slot run engine keep rpc store proc agent verdict prompt task git config child base
RLD_C    = $(wildcard $(ROOMS:%=daemon/%/*.c)) $(wildcard daemon/record/*.c proto/*.c)
RLD_CXX  = $(wildcard daemon/config/*.cc)
RLD_O    = $(RLD_C:%.c=$(B)/%.o) $(RLD_CXX:%.cc=$(B)/%.o) $(B)/gen/sql.o $(B)/gen/templates.o $(B)/gen/copy.o
MAIN_O   = $(patsubst %.c,$(B)/%.o,$(wildcard daemon/*.c))
RLCTL_O  = $(patsubst %.c,$(B)/%.o,$(wildcard client/*.c client/*/*.c proto/*.c)) \
           $(B)/gen/page.o $(B)/gen/web_style.o $(B)/gen/web_script.o
SHIM_O   = $(patsubst %.c,$(B)/%.o,$(wildcard daemon/shim/*.c daemon/record/*.c) daemon/child/process_tree.c)
BENCHES  = $(patsubst tests/bench/%.c,$(B)/bench/%,$(wildcard tests/bench/*.c))
UNITS    = $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/*.c))

# V=1 shows the commands.
Q        = $(if $(V),,@)
say      = $(if $(V),,@echo "  $1 $@")

all: $(B)/rld $(B)/rlctl $(B)/rl-shim $(B)/rl-git $(B)/rl-start

$(B)/rld: $(MAIN_O) $(B)/librld.a
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS_RLD)
$(B)/rlctl: $(RLCTL_O)
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS_RLCTL)
# Static: one is started for each attempt and each git operation, and half of its time would be the dynamic linker's.
LDFLAGS_STATIC = $(filter-out -pie,$(LDFLAGS)) $(if $(SAN),-pie,-static-pie)
$(B)/rl-shim: $(SHIM_O)
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS_STATIC) -o $@ $^
# Of the daemon's rooms what operations need: neither libuv nor SQLite.
$(B)/rl-git: $(B)/daemon/rl-git/rl_git.o $(B)/librld.a
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS_STATIC) -o $@ $^ $(LDLIBS_GIT)
# It asks the databases of users, so it is not static.
$(B)/rl-start: $(patsubst %.c,$(B)/%.o,$(wildcard daemon/starter/*.c)) $(B)/librld.a
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS_RLD)
$(B)/librld.a: $(RLD_O)
	$(call say,AR)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(B)/%.o: %.cc
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -c -o $@ $<
$(B)/gen/%.o: $(B)/gen/%.c
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
$(B)/gen/sql.c: $(wildcard sql/*.sql) daemon/store/embed.awk
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)awk -f daemon/store/embed.awk $(sort $(filter %.sql,$^)) > $@
$(B)/gen/templates.c: $(wildcard daemon/prompt/templates/*.md) daemon/prompt/embed.awk
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)awk -f daemon/prompt/embed.awk $(sort $(filter %.md,$^)) > $@
$(B)/gen/copy.c: daemon/job/copy.sh client/page/embed.awk
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)awk -v name=copy_text -v header=job/copy_text.h -f client/page/embed.awk $< > $@
$(B)/gen/page.c: client/page/page.css client/page/embed.awk
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)awk -v name=page_style -v header=client/page/style.h -f client/page/embed.awk $< > $@
$(B)/gen/web_style.c: client/web/web.css client/page/embed.awk
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)awk -v name=web_style -v header=client/web/web_text.h -f client/page/embed.awk $< > $@
$(B)/gen/web_script.c: client/web/live.js client/page/embed.awk
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)awk -v name=web_script -v header=client/web/web_text.h -f client/page/embed.awk $< > $@

# The client without its main, for tests of its parts.
$(B)/librlctl.a: $(filter-out $(B)/client/main.o,$(RLCTL_O))
	$(call say,AR)
	$(Q)rm -f $@ && ar rcs $@ $^
$(B)/unit/screen $(B)/unit/page $(B)/unit/pager $(B)/unit/proposal $(B)/unit/web $(B)/unit/host: $(B)/librlctl.a
$(B)/unit/screen $(B)/unit/page $(B)/unit/pager $(B)/unit/proposal $(B)/unit/web $(B)/unit/host: UNIT_A = $(B)/librlctl.a
$(B)/unit/attempt_group: $(B)/daemon/starter/attempt_group.o
$(B)/unit/attempt_group: UNIT_A = $(B)/daemon/starter/attempt_group.o

$(B)/tests/unit/%.o: CPPFLAGS += $(shell pkg-config --cflags check)
$(B)/unit/%: $(B)/tests/unit/%.o $(B)/librld.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(UNIT_A) $(B)/librld.a $(shell pkg-config --libs check) $(LDLIBS_RLD)

# The laws; then each of them broken in a copy of the tree, which must be seen.
lint: all
	$(PYTHON) tests/lint --build $(B)
	$(PYTHON) tests/lint --plant --build $(B)

# docs/openrpc.json, as the daemon answers to rpc.discover, and docs/clients, which is made of it. SINCE=REV: only say what changed since then.
openrpc: all
	$(PYTHON) tests/openrpc --build $(B) $(if $(SINCE),--since $(SINCE),--write)

# Calls of the engine that the simulation counts and bends.
SIM_WRAPS = slot_row_move stage_before_work first_stage first_review_stage stage_after_claim stage_after_worktree stage_after_attempt \
            stage_after_measure stage_after_checkout stage_after_preparing stage_after_round stage_after_approval stage_after_acceptance stage_after_commit stage_after_merge \
            stage_after_held_back stage_after_rework stage_after_cancel run_step review_classify check_classify activity_end log_bug decision_put
$(B)/sim/sim: $(patsubst %.c,$(B)/%.o,$(wildcard tests/sim/*.c)) $(B)/librld.a
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(LDFLAGS) $(SIM_WRAPS:%=-Wl,--wrap=%) -o $@ $^ $(LDLIBS_RLD)

# What the fuzzers are fed with, replayed by tests/check; and the fuzzers themselves, SECONDS each.
FUZZ     = $(filter-out replay,$(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c)))
$(B)/fuzz/%: tests/fuzz/%.c tests/fuzz/replay.c $(B)/librld.a
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< tests/fuzz/replay.c $(B)/librld.a $(LDLIBS_RLD)
$(B)/libfuzzer/%: tests/fuzz/%.c $(B)/librld.a
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $< $(B)/librld.a $(LDLIBS_RLD)
fuzzers: $(FUZZ:%=$(B)/libfuzzer/%)
SECONDS ?= 60
fuzz:
	@$(MAKE) --no-print-directory CC=clang SAN=1 B=build-fuzz EXTRA=-fsanitize=fuzzer-no-link fuzzers
	@for name in $(FUZZ); do mkdir -p build-fuzz/new/$$name; rm -f build-fuzz/$$name-*; echo "== $$name"; \
	    build-fuzz/libfuzzer/$$name -max_total_time=$(SECONDS) -max_len=262144 -print_final_stats=1 \
	    -artifact_prefix=build-fuzz/$$name- build-fuzz/new/$$name tests/fuzz/corpus/$$name 2>&1 | tail -4; \
	    ls build-fuzz/$$name-* 2>/dev/null && exit 1 || :; done

# Kills and failing calls: POINT=P plays one again. Every point of a kind without COUNT, which takes hours.
$(B)/fault/inject: tests/fault/inject.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu11 $(OPT) $(WARN) -o $@ $<
$(B)/fault/malloc.so: tests/fault/malloc.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu11 $(OPT) $(WARN) -shared -fPIC -o $@ $<
fault: all $(B)/fault/inject $(B)/fault/malloc.so
	RLD_BUILD=$(abspath $(B)) $(PYTHON) tests/fault/run $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED)) $(KIND) $(POINT)

SEEDS   ?= 1000
sim: $(B)/sim/sim
	$(B)/sim/sim --seeds $(SEEDS)
	$(B)/sim/sim --crowd --seeds $(SEEDS)

# Everything that a test runs is built first; "make check SAN=1" is the same with ASan and UBSan. What the fast set is: tests/check.
checked: all $(UNITS) $(B)/sim/sim $(FUZZ:%=$(B)/fuzz/%) $(B)/fault/inject $(B)/fault/malloc.so $(BENCHES)
check:
	@tests/deps test install
	@$(MAKE) --no-print-directory -j2 DEV=1 checked
	@$(PYTHON) tests/check $(B) $(PARTS)

# Also what make check leaves out, and all of it once more with sanitizers.
check-all:
	@tests/deps test install
	@$(MAKE) --no-print-directory -j2 DEV=1 checked
	@$(PYTHON) tests/check $(B) --all
	@$(MAKE) --no-print-directory -j2 DEV=1 SAN=1 checked
	@$(PYTHON) tests/check build-san --all unit fuzz sim system
	@$(MAKE) --no-print-directory -j2 DEV=1 SAN=thread checked
	@$(PYTHON) tests/check build-tsan --all unit system
	@$(MAKE) --no-print-directory check-places
	@$(PYTHON) tests/plants
	@tests/deps boot install
	@$(MAKE) --no-print-directory check-deb check-boot

# Bugs that the tests must notice, planted one at a time in a copy of the tree: PLANTS="NAME or ROOM ..." or all.
plants: checked
	$(PYTHON) tests/plants $(PLANTS)

# As root: power cuts of a disk in a file, and a small disk that is full at each phase.
CUTS    ?= 200
FILLS   ?= 10
check-power: all
	CUTS=$(CUTS) FILLS=$(FILLS) RLD_BUILD=$(B) PYTHONDONTWRITEBYTECODE=1 \
	    $(PYTHON) -m pytest -q -s -p no:cacheprovider tests/system/test_power_cut.py tests/system/test_full_disk.py

# Where the tests must be green, too: PLACES="root user first bare slow"  PARTS="unit system/test_turns.py" or all.
check-places: checked
	@PLACES="$(PLACES)" $(PYTHON) tests/places $(B) $(PARTS)

# The presets with the real programs of the npm registry: AGENTS="NAME ..."  SCRATCH=DIR.
check-agents: all
	RLD_BUILD=$(B) $(PYTHON) tests/agents/run $(if $(SCRATCH),--scratch $(SCRATCH)) $(AGENTS)

# What passes though no judge has seen it: TRICKS="NAME ..." or all.
check-evidence: all
	RLD_BUILD=$(B) $(PYTHON) tests/evidence/run $(if $(RUNS),--runs $(RUNS)) $(if $(SEED),--seed $(SEED)) $(TRICKS)

# The package on a machine with a real systemd as process 1 (root): install, restart, kill, upgrade, full disk, reboot, logout.
check-boot:
	@tests/deps boot
	@$(MAKE) --no-print-directory deb
	PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/boot/run $(DEB)/rld_$(VERSION)_*.deb

# pairs of tasks that break each other only when merged
check-pairs: all
	RLD_BUILD=$(abspath $(B)) RLD_PAIRS=$(or $(PAIRS),1000) $(PYTHON) -B -m pytest -q -n auto -p no:cacheprovider \
	    tests/system/test_pairs.py

# A hundred tasks in eight slots: failures, conflicts, limits, hangs, 30 kills of the daemon; SEED=n.
check-night: all
	RLD_BUILD=$(abspath $(B)) $(PYTHON) -B -m pytest -q -s -p no:cacheprovider tests/system/test_night.py -k hundred

# Launchers with a real cluster of Slurm on loopback (root).
check-launchers: all
	PYTHON=$(PYTHON) tests/launchers $(B)

# How long 12, 30 and 100 tasks take against list scheduling: UNIT=seconds TASKS="12 30 100".
check-makespan: all
	RLD_BUILD=$(abspath $(B)) tests/bench/makespan

# echo: the peer of the RPC rate; rate: its client; verdict: reads verdicts of hostile shapes.
$(B)/bench/%: tests/bench/%.c $(B)/librld.a
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(B)/librld.a $(LDLIBS_RLD)
# BENCH="rpc;queue 1000": rows whose names begin so; LONG=1: also the longest; JSON=FILE.
bench: all $(BENCHES)
	RLD_BUILD=$(B) tests/bench/run $(if $(LONG),--long) $(if $(JSON),--json $(JSON)) $(if $(BENCH),--rows '$(BENCH)')

# A second make: only after deps has run can pkg-config answer.
deps:
	@tests/deps test install
demo:
	@tests/deps build install
	@$(MAKE) --no-print-directory all
	@tests/demo $(B)
# Pictures of pages, with Chromium and scripted agents.
screenshots: all
	$(PYTHON) tests/screenshots $(B)

MAN      = $(wildcard docs/*.[1-9])
SHARE    = $(DESTDIR)$(PREFIX)/share
LIB      = $(DESTDIR)$(PREFIX)/lib
UNIT_FILES = system/rld.service system/rld.socket system/rld@.service system/rld-start.service system/rld-start.socket user/rld.service user/rld.socket
install: all
	install -D -m 755 $(B)/rlctl $(DESTDIR)$(PREFIX)/bin/rlctl
	install -D -m 755 $(B)/rld $(DESTDIR)$(PREFIX)/sbin/rld
	install -D -m 755 $(B)/rl-shim $(DESTDIR)$(PREFIX)/libexec/rl-shim
	install -D -m 755 $(B)/rl-git $(DESTDIR)$(PREFIX)/libexec/rl-git
	install -D -m 755 $(B)/rl-start $(DESTDIR)$(PREFIX)/libexec/rl-start
	for page in $(MAN); do install -D -m 644 -t $(SHARE)/man/man$${page##*.} $$page || exit; done
	for file in docs/examples/*; do install -D -m $$(test -x $$file && echo 755 || echo 644) \
	    -t $(SHARE)/doc/rld/examples $$file || exit; done
	install -d $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	$(B)/rlctl completion bash > $(SHARE)/bash-completion/completions/rlctl
	$(B)/rlctl completion zsh > $(SHARE)/zsh/site-functions/_rlctl
	$(B)/rlctl completion fish > $(SHARE)/fish/vendor_completions.d/rlctl.fish
	for name in system user; do install -d $(LIB)/systemd/$$name || exit; done
	for unit in $(UNIT_FILES); do sed \
	    -e 's|^ExecStart=.*/rld$$|ExecStart=$(PREFIX)/sbin/rld|' -e 's|=\([-+]*\)/usr/local/libexec/|=\1$(PREFIX)/libexec/|' -e 's|^ExecReload=.*/rlctl|ExecReload=$(PREFIX)/bin/rlctl|' \
	    systemd/$${unit#system/} > $(LIB)/systemd/$$unit && chmod 644 $(LIB)/systemd/$$unit || exit; done
	install -D -m 644 -t $(LIB)/sysusers.d systemd/sysusers.d/rld.conf
	install -D -m 644 -t $(LIB)/tmpfiles.d systemd/tmpfiles.d/rld.conf

# What install puts there, and nothing else: settings and state stay.
uninstall:
	rm -rf $(B)/staged
	$(MAKE) -s install DESTDIR=$(abspath $(B))/staged
	cd $(B)/staged && find . ! -type d -exec sh -c 'for f; do rm -f "$(DESTDIR)/$$f"; done' sh {} +
	-rmdir $(SHARE)/doc/rld/examples $(SHARE)/doc/rld
	rm -rf $(B)/staged

# A Debian package of the version, in build/deb: VERSION=0.1.1. The same sources give the same bytes.
DEB      = build/deb
DEB_DATE = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2> /dev/null),$(shell stat -c %Y docs/CHANGELOG.md))
deb:
	@tests/deps deb
	rm -rf $(DEB)
	mkdir -p $(DEB)/rld-$(VERSION)
	cp -a Makefile README.md LICENSE daemon client proto sql systemd docs $(DEB)/rld-$(VERSION)
	mv $(DEB)/rld-$(VERSION)/systemd/debian $(DEB)/rld-$(VERSION)/debian
	printf 'rld (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' '$(VERSION)' \
	    "$$(sed -n 's/^Maintainer: //p' systemd/debian/control)" "$$(date -uR -d @$(DEB_DATE))" \
	    > $(DEB)/rld-$(VERSION)/debian/changelog
	cd $(DEB)/rld-$(VERSION) && env -u MAKEFLAGS -u MAKEOVERRIDES -u MFLAGS -u MAKELEVEL CC='$(CC)' CXX='$(CXX)' \
	    TZ=UTC dpkg-buildpackage -b -us -uc -j$$(nproc)
	rm -rf $(DEB)/rld-$(VERSION)
# No finding of lintian, and the same bytes again.
check-deb: deb
	lintian --fail-on error,warning $(DEB)/rld_$(VERSION)_*.changes
	sha256sum $(DEB)/*.deb > build/deb.sha256
	@$(MAKE) --no-print-directory deb
	sha256sum -c build/deb.sha256
deps-deb deps-boot deps-vm deps-bench deps-launchers:
	@tests/deps $(@:deps-%=%) install

# The path of rl-shim and rl-git is compiled in: another PREFIX than the last one makes main.o anew.
$(B)/daemon/main.o: $(B)/prefix
$(B)/prefix: always
	@mkdir -p $(@D)
	@echo '$(PREFIX)' | cmp -s - $@ || echo '$(PREFIX)' > $@

.PHONY: all always bench check check-agents check-all check-evidence check-launchers check-makespan check-night check-pairs check-places check-power checked clean check-boot check-deb deb demo deps deps-bench deps-boot deps-deb deps-launchers deps-vm fault fuzz fuzzers install lint openrpc plants screenshots sim uninstall
clean:
	rm -rf build build-san build-fuzz

.SECONDARY:
-include $(shell find $(B) -name deb -prune -o -name '*.d' -type f -print 2>/dev/null)
