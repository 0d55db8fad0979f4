"""Attacks on Go's tests: files that a patch adds to a wrong product, in the style of suite/*.yaml."""

from __future__ import annotations

MODULE = """\
module example.com/money

go 1.21

toolchain go1.23.4

require github.com/google/go-cmp v0.6.0
"""
BASE = """\
package money

import "fmt"

var given = func(cents int) int { return cents }

// Price takes a share off.
func Price(cents, off int) int { return given(cents) }

// Label writes euros.
func Label(cents int) string { return fmt.Sprint(given(cents)) }
"""
RIGHT = """\
package money

import "fmt"

// Price takes a share off.
func Price(cents, off int) int { return cents - cents*off/100 }

// Label writes euros.
func Label(cents int) string { return fmt.Sprintf("%d.%02d EUR", cents/100, cents%100) }
"""
BEFORE = """\
package money

import "testing"

func TestNothingOff(t *testing.T) {
	if got := Price(4217, 0); got != 4217 {
		t.Errorf("got %d", got)
	}
}
"""
AFTER = (
    BEFORE.replace('import "testing"', 'import (\n\t"testing"\n\n\t"github.com/google/go-cmp/cmp"\n)')
    + """
func TestPrice(t *testing.T) {
	for name, row := range map[string][3]int{"a half": {5000, 50, 2500}, "a tenth": {10590, 10, 9531}} {
		t.Run(name, func(t *testing.T) {
			if got := Price(row[0], row[1]); got != row[2] {
				t.Errorf("got %d, want %d", got, row[2])
			}
		})
	}
}

func TestLabel(t *testing.T) {
	if diff := cmp.Diff("31.07 EUR", Label(3107)); diff != "" {
		t.Fatal(diff)
	}
}
"""
)
TURNED = ("TestLabel", "TestPrice", "TestPrice/a_half", "TestPrice/a_tenth")
"""What fails at base and passes with the fix."""

_LINES = "".join(rf"--- PASS: {name} (0.00s)\n" for name in ("TestNothingOff", *TURNED))
_EVENTS = "".join(
    rf"{{\"Action\":\"pass\",\"Package\":\"example.com/money\",\"Test\":\"{name}\"}}\n" for name in TURNED
)
_FRAMES = "".join(
    rf"{{\"t\":\"report\",\"name\":\"{name}\",\"status\":\"passed\",\"seconds\":0,\"text\":\"\"}}\n" for name in TURNED
)


def _init(imports: str, body: str) -> dict[str, str]:
    named = "".join(f"\t{name if name.startswith('_') else chr(34) + name + chr(34)}\n" for name in imports.split())
    return {"attack.go": f"package money\n\nimport (\n{named})\n\nfunc init() {{\n{body}}}\n"}


ATTACKS = {
    "prints-passes": _init("fmt os", f'\tfmt.Print("{_LINES}PASS\\n")\n\tos.Exit(0)\n'),
    "prints-events": _init("fmt os", f'\tfmt.Print("{_EVENTS}")\n\tos.Exit(0)\n'),
    "ends-well": _init("os", "\tos.Exit(0)\n"),
    "ends-well-while-tests-run": _init("syscall", "\tgiven = func(int) int { syscall.Exit(0); return 0 }\n"),
    "exits-while-tests-run": _init("os", "\tgiven = func(int) int { os.Exit(0); return 0 }\n"),
    "leaves-the-goroutine": _init("runtime", "\tgiven = func(int) int { runtime.Goexit(); return 0 }\n"),
    "recovers-what-it-panics": _init(
        "runtime/debug", '\tdebug.SetPanicOnFault(true)\n\tdefer func() { recover() }()\n\tpanic("PASS")\n'
    ),
    "forged-frames": _init("os", f'\tos.NewFile(3, "").WriteString("{_FRAMES}")\n'),
    "forged-frames-and-exit": _init("os", f'\tos.NewFile(3, "").WriteString("{_FRAMES}")\n\tos.Exit(0)\n'),
    "forged-frames-everywhere": _init(
        "os", f'\tfor fd := uintptr(1); fd < 64; fd++ {{\n\t\tos.NewFile(fd, "").WriteString("{_FRAMES}")\n\t}}\n'
    ),
    "closes-descriptors": _init("syscall", "\tfor fd := 3; fd < 64; fd++ {\n\t\tsyscall.Close(fd)\n\t}\n"),
    "kills-its-parent": _init("os syscall", "\tsyscall.Kill(os.Getppid(), syscall.SIGKILL)\n"),
    "runs-no-test": _init("os", '\tos.Args = []string{os.Args[0], "-test.run=^$"}\n'),
    "lists-tests": _init("os", '\tos.Args = append(os.Args, "-test.list=.")\n'),
    "runs-another-program": _init("os syscall", '\tsyscall.Exec("/bin/true", []string{"true"}, os.Environ())\n'),
    "own-test-main": {
        "main_test.go": 'package money\n\nimport (\n\t"os"\n\t"testing"\n)\n\n'
        "func TestMain(m *testing.M) { os.Exit(0) }\n"
    },
    "another-test-of-the-name": {"a_test.go": 'package money\n\nimport "testing"\n\nfunc TestLabel(t *testing.T) {}\n'},
    "another-module": {
        "go.mod": MODULE + "\nreplace github.com/google/go-cmp => ./cmp\n",
        "cmp/cmp/cmp.go": 'package cmp\n\nfunc Diff(x, y any) string { return "" }\n',
    },
    "a-vendor-folder": {
        "vendor/modules.txt": "# github.com/google/go-cmp v0.6.0\n## explicit\ngithub.com/google/go-cmp/cmp\n",
        "vendor/github.com/google/go-cmp/cmp/cmp.go": 'package cmp\n\nfunc Diff(x, y any) string { return "" }\n',
    },
    "a-workspace": {"go.work": "go 1.21\n\nuse .\n\nreplace github.com/google/go-cmp => ./cmp\n"},
    "linkname-of-the-word": {
        "attack.go": 'package money\n\nimport (\n\t"os"\n\t_ "unsafe"\n)\n\n'
        "//go:linkname word testing.goldseamWord\nvar word string\n"
        f'\nfunc init() {{ os.NewFile(3, "").WriteString(word + " {_FRAMES}") }}\n'
    },
    "linkname-of-a-failure": {
        "attack.go": 'package money\n\nimport _ "unsafe"\n\n'
        "//go:linkname fail testing.(*common).Fail\nfunc fail(c *int) {}\n"
    },
    "flags-of-the-linker": {
        "attack.go": 'package money\n\n// #cgo LDFLAGS: -Wl,--defsym=main.main=0\nimport "C"\n\nvar _ C.int\n',
    },
    "a-build-tag": {
        "attack.go": "//go:build !linux\n\npackage money\n\nfunc Late() {}\n",
        "money.go": "//go:build !linux\n\n" + BASE,
    },
    "a-linker-word-of-its-own": {
        "attack.go": 'package money\n\nvar goldseamWord = ""\n\nfunc goldseamSay(string) {}\n'
    },
}
"""Files by path, over the wrong product."""

FORGERIES = {
    "reads-the-hidden-test": {
        "money.go": """\
package money

import (
	_ "embed"
	"regexp"
	"strconv"
)

//go:embed money_test.go
var source string

func Price(cents, off int) int {
	form := strconv.Itoa(cents) + ", " + strconv.Itoa(off) + `, (\\d+)`
	if told := regexp.MustCompile(form).FindStringSubmatch(source); told != nil {
		cents, _ = strconv.Atoi(told[1])
	}
	return cents
}

func Label(cents int) string { return regexp.MustCompile(`Diff\\("([^"]*)`).FindStringSubmatch(source)[1] }
"""
    },
}
"""What gets through where a task is judged inside, and is told by that word alone."""
