PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Test processes share the cores: BLAS threads on top of them would wait for one another.
ONE_BLAS_THREAD := OPENBLAS_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help demo page test lint typecheck bench bench-trial bench-large bench-check book-tables docs docs-check gallery-full check-anndata check-native check-sanitizers check-threads check-clang check-aarch64 check-portable check-slow check-wheels fuzz clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/installed: $(BIN)/python pyproject.toml CMakeLists.txt $(wildcard csrc/*)
	$(BIN)/python -m pip install --quiet --editable '.[plot]'
	@touch $@

$(VENV)/installed-%: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group $*
	@touch $@

demo: $(VENV)/installed ## embed every surface by every method; writes demo/
	$(BIN)/python -m unbend.apps.demo --output demo

# The bundle of `unbend serve`; npm takes what page/package-lock.json names and nothing newer.
page/node_modules: page/package.json page/package-lock.json
	cd page && npm ci --silent
	@touch $@

page: page/node_modules ## build the page of unbend serve; needs npm
	cd page && npm run --silent build

test: $(VENV)/installed-test ## run the tests, without the slow cases; ten minutes on two cores
	$(ONE_BLAS_THREAD) $(BIN)/python -m pytest -n auto -m "not slow"

lint: $(VENV)/installed-lint ## check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

typecheck: $(VENV)/installed-lint ## check types
	$(BIN)/mypy

$(VENV)/installed-bench: $(VENV)/installed
	$(BIN)/python -m benchmarks.install
	@touch $@

# Every harness writes its figures beside it; VENV=FOLDER takes another environment than .venv.
# The tables are written also where a harness failed. The page is opened by a helper of the tests.
bench: $(VENV)/installed-bench $(VENV)/installed-test ## measure against the peers, at most 50 minutes; QUICK=1: three minutes
	$(BIN)/python -m benchmarks$(if $(QUICK), --limit --quick,.whole); status=$$?; \
		$(BIN)/python -m benchmarks.summary && $(BIN)/python -m benchmarks.pages && exit $$status

bench-trial: $(VENV)/installed-bench $(VENV)/installed-test ## start every harness of make bench at its smallest setting
	$(BIN)/python -m benchmarks.whole --quick

# A million rows of 100 columns, and up to ten gigabytes.
bench-large: $(VENV)/installed-bench ## neighbours of a million rows with two peers, Isomap of 50 000 rows; half an hour
	$(BIN)/python -m benchmarks --only "Isomap n=50000" --memory 0
	$(BIN)/python -m benchmarks.descent_curves 1000000 --only SIFT-like

bench-check: $(VENV)/installed ## compare measured ratios with the committed ones; flags > 20 % worse
	$(BIN)/python -m benchmarks.check $(REVISION)

book-tables: $(VENV)/installed ## the book's Tables 15.1-15.6 beside ours
	$(BIN)/python -m benchmarks.book_tables

docs: $(VENV)/installed-docs ## build the documentation in docs/_build
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build

docs-check: docs $(VENV)/installed-test ## build the documentation and try it in a browser
	$(ONE_BLAS_THREAD) $(BIN)/python -m pytest -q tests/test_site.py

gallery-full: $(VENV)/installed-docs ## build the documentation with the long examples of the gallery
	UNBEND_GALLERY=full $(BIN)/python -m sphinx -W -q -b html docs docs/_build

# The kernels without Python, for the baseline and for wide vectors, under sanitizers.
NATIVE_TESTS := $(foreach test,$(wildcard csrc/tests/*.cpp),$(basename $(notdir $(test))))
SANITIZE := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fopenmp-simd -pthread

NATIVE_BUILD ?= build/sanitized
$(NATIVE_BUILD)/%: csrc/tests/%.cpp $(wildcard csrc/*.hpp)
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(SANITIZE) -ffp-contract=off -Wno-psabi -Icsrc $< -o $@
	$(CXX) -std=c++17 $(SANITIZE) -ffp-contract=off -Wno-psabi -Icsrc -DUNBEND_BASELINE $< -o $@-baseline

check-native: $(addprefix $(NATIVE_BUILD)/,$(NATIVE_TESTS)) ## run the kernels' own tests under sanitizers
	@for test in $^; do $$test && $$test-baseline || exit 1; done

# The extension itself, with the bindings, under the stage tests. It is built in an environment of its
# own; the runtime of the sanitizers is loaded before Python, and what Python keeps is no leak.
EXTENSION := build/extension
RUNTIME = $(shell $(CXX) -print-file-name=libasan.so):$(shell $(CXX) -print-file-name=libubsan.so)
STAGES := tests/stages tests/test_kernels.py
check-sanitizers: ## run the stage tests on an extension built with sanitizers
	$(PYTHON) -m venv $(EXTENSION)
	$(EXTENSION)/bin/python -m pip install --quiet --upgrade pip
	ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
		CXXFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined" \
		$(EXTENSION)/bin/python -m pip install --quiet --config-settings=cmake.build-type=Debug \
		--config-settings=install.strip=false --config-settings=build-dir=$(EXTENSION)/objects \
		. --group test
	ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=$(RUNTIME) $(ONE_BLAS_THREAD) UNBEND_KERNELS=native \
		$(EXTENSION)/bin/python -m pytest -q -p no:cacheprovider -m "not slow" $(STAGES)

# The same tests under ThreadSanitizer, which knows the standard library's threads.
build/threads/%: csrc/tests/%.cpp $(wildcard csrc/*.hpp)
	@mkdir -p $(@D)
	$(CXX) -std=c++17 -O1 -g -fsanitize=thread -fopenmp-simd -pthread -ffp-contract=off -Wno-psabi \
		-Icsrc $< -o $@

check-threads: $(addprefix build/threads/,$(NATIVE_TESTS)) ## run the kernels' own tests under ThreadSanitizer
	@for test in $^; do TSAN_OPTIONS=halt_on_error=1 $$test || exit 1; done

# The same tests by another compiler.
check-clang: ## run the kernels' own tests, built by clang, under sanitizers
	$(MAKE) check-native CXX=clang++ NATIVE_BUILD=build/clang

# For 64-bit ARM: Debian's g++-aarch64-linux-gnu builds them and qemu-user runs them. It cannot fork
# a process that has threads.
AARCH64 ?= aarch64-linux-gnu-g++
build/aarch64/%: csrc/tests/%.cpp $(wildcard csrc/*.hpp)
	@mkdir -p $(@D)
	$(AARCH64) -std=c++17 -O2 -fopenmp-simd -pthread -ffp-contract=off -Wno-psabi -static -DNO_FORK \
		-Icsrc $< -o $@

check-aarch64: $(addprefix build/aarch64/,$(NATIVE_TESTS)) ## run the kernels' own tests for ARM; needs qemu-user
	@for test in $^; do qemu-aarch64 $$test || exit 1; done

# Tests whose answers are computed in floating point. Another kernel of OpenBLAS sums in another
# order, and the kernels in NumPy do not round as the compiled ones: no verdict may depend on it.
NUMERICAL := $(addprefix tests/,dimension quality conformance stages lowrank mvu localization \
	selection \
	$(addprefix test_,$(addsuffix .py,consistency held_out interpretation kernels known_pairs \
	landmark_mds methods metric_mds nonmetric_mds precision quality recovery scale scaling_examples \
	scaling_hostile several_mds spread threads)))
# Kernels that this processor can run; Prescott and Nehalem run on every 64-bit x86.
has = $(shell grep -q $(1) /proc/cpuinfo 2>/dev/null && echo $(2))
CORETYPES := Prescott Nehalem $(call has,avx2,Haswell) $(call has,avx512f,SkylakeX)

check-portable: $(VENV)/installed-test ## run the numerical tests with other BLAS kernels, and without ours
	@failed=; for setting in $(CORETYPES:%=OPENBLAS_CORETYPE=%) UNBEND_KERNELS=reference; do \
		echo "$$setting"; \
		env $(ONE_BLAS_THREAD) $$setting $(BIN)/python -m pytest -q -n auto -m "not slow" $(NUMERICAL) \
			|| failed="$$failed $$setting"; \
	done; if [ -n "$$failed" ]; then echo "Failed with:$$failed"; exit 1; fi

# What `make test` leaves out: cases marked slow, and more examples of every law that Hypothesis tries.
check-slow: $(VENV)/installed-test check-native check-threads check-anndata ## run the slow cases, and laws with more examples
	$(ONE_BLAS_THREAD) $(BIN)/python -m pytest -n 2 -m "slow or hypothesis" \
		--hypothesis-profile=slow --timeout=1800

# In an environment of its own, since anndata does not yet allow pandas 3.
check-anndata: ## read exported h5ad files with anndata
	$(PYTHON) -m venv build/anndata
	build/anndata/bin/python -m pip install --quiet --upgrade pip
	build/anndata/bin/python -m pip install --quiet '.[cli,plot,export]' --group smoke
	$(ONE_BLAS_THREAD) build/anndata/bin/python -m pytest -q tests/test_viewers.py -k anndata

# Random data, estimators and parameters under laws; the same seed tries the same cases.
SECONDS ?= 60
SEED ?= 0
fuzz: $(VENV)/installed-test ## try random fits under laws; SECONDS=600 SEED=0
	$(ONE_BLAS_THREAD) $(BIN)/python -m tests.fuzzing --seconds $(SECONDS) --seed $(SEED)

check-wheels: ## build the wheels and try them on every CPython here
	$(PYTHON) .ci/check_wheels.py

clean: ## remove what the commands made
	rm -rf .venv build dist demo docs/_build docs/generated docs/gallery page/node_modules src/unbend/web/bundle
