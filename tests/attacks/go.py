"""Attacks on Go's tests: files that a patch adds to a wrong product, in the style of suite/*.yaml."""

from __future__ import annotations

from pathlib import Path

import yaml

MODULE = """\
module example.com/money

go 1.21

toolchain go1.23.4

require (
	github.com/google/go-cmp v0.6.0
	github.com/stretchr/testify v1.9.0
)
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

ATTACKS = {
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
    "a-build-tag": {
        "attack.go": "//go:build !linux\n\npackage money\n\nfunc Late() {}\n",
        "money.go": "//go:build !linux\n\n" + BASE,
    },
}
"""Files by path, over the wrong product: what is compiled, in place of what it does."""

SHOP = """\
package money

import (
	"errors"
	"fmt"
)

var given = func(value any) any { return value }

// Item is one that is sold.
type Item struct {
	Name  string
	Cents int
}

// Price takes a share off.
func Price(cents, off int) int { return given(cents).(int) }

// Label writes euros.
func Label(cents int) string { return given(fmt.Sprint(cents)).(string) }

// Parse reads them.
func Parse(text string) (Item, error) {
	if text == "" {
		return Item{}, given(errors.New("no")).(error)
	}
	return given(Item{Name: text}).(Item), nil
}

// Split shares them out.
func Split(cents, ways int) []int { return given([]int{cents}).([]int) }

// Any is whatever it is.
func Any(cents int) any { return given(cents) }

// ErrGone is what is wrapped.
var ErrGone = errors.New("it is gone")

// Take fails.
func Take(count int) error { return given(errors.New("not taken")).(error) }
"""
"""The product of attacks that are tried side by side, which the fix makes right."""
SHOP_RIGHT = """\
package money

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

type Item struct {
	Name  string
	Cents int
}

var ErrGone = errors.New("it is gone")

func Take(count int) error { return fmt.Errorf("taking %d: %w", count, ErrGone) }

func Price(cents, off int) int { return cents - cents*off/100 }

func Label(cents int) string { return fmt.Sprintf("%d.%02d EUR", cents/100, cents%100) }

func Parse(text string) (Item, error) {
	name, cents, found := strings.Cut(text, " ")
	if !found {
		return Item{}, fmt.Errorf("no price in %q of %d letters", text, len(text))
	}
	number, err := strconv.ParseFloat(cents, 64)
	return Item{Name: name, Cents: int(number*100 + 0.5)}, err
}

func Split(cents, ways int) []int {
	shares := []int{}
	for ; ways > 0; ways-- {
		shares = append(shares, (cents+ways-1)/ways)
		cents -= shares[len(shares)-1]
	}
	return shares
}

func Any(cents int) any { return map[string]any{"cents": cents, "label": Label(cents)} }
"""
SHOP_TEST = """\
package money

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
)

func TestTake(t *testing.T) {
	if err := Take(3); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
}

func TestPrice(t *testing.T) {
	tests := []struct {
		name      string
		cents, by int
		want      int
	}{
		{"a half", 5000, 50, 2500},
		{name: "a tenth", cents: 10590, by: 10, want: 9531},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Price(tt.cents, tt.by); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestLabel(t *testing.T) {
	for cents, want := range map[int]string{3107: "31.07 EUR", 209: "2.09 EUR"} { // in euros
		if got := Label(cents); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

func TestParse(t *testing.T) {
	got, err := Parse("tea 4.19")
	if err != nil || !reflect.DeepEqual(got, Item{Name: "tea", Cents: 419}) {
		t.Fatal(got, err)
	}
	_, err = Parse("")
	if err == nil {
		t.Fatal("no error")
	}
	if err.Error() != "no price in \\"\\" of 0 letters" {
		t.Error(err)
	}
}

func TestSplit(t *testing.T) {
	if got := Split(1001, 3); len(got) != 3 || !reflect.DeepEqual(got, []int{334, 334, 333}) {
		t.Error(got)
	}
}

func TestAny(t *testing.T) {
	if got := Any(77); !reflect.DeepEqual(got, map[string]any{"cents": 77, "label": "0.77 EUR"}) {
		t.Error(got)
	}
}

func ExampleLabel() {
	fmt.Println(Label(12345))
	// Output: 123.45 EUR
}
"""
SHOP_TURNED = (
    "ExampleLabel",
    "TestAny",
    "TestLabel",
    "TestParse",
    "TestPrice",
    "TestPrice/a_half",
    "TestPrice/a_tenth",
    "TestSplit",
    "TestTake",
)
EXPECTED = ("9531", "2500", "31.07 EUR", "2.09", "419", "letters", "334", "0.77", "123.45")
"""What no byte may tell that enters a container."""
SIDE_BY_SIDE = 22
"""Folders of one module with a product and a test each."""
ALONE = frozenset({"kills-its-parent", "kills-all", "searches-the-driver", "writes-to-the-pipe-of-the-driver"})
"""Attacks on what all others share."""
ENDLESS = "10-wraps-itself-many-times"
"""An attack that no test ends with: none of those beside it would be tried."""
SIDE_BY_SIDE_ATTACKS: dict[str, str] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
"""By name, a file of the product's package beside the wrong product."""


def folder(number: int) -> str:
    """One of the folders."""
    return f"group/p{number:02}"


_FORGE = """\
package money

import (
	"fmt"
	"os"
	"strings"
)

// Frames of all tests, by the word of the trial, with what the base gives.
func forge(found []string) {
	if len(found) < 2 {
		return
	}
	pipe := os.NewFile(3, "")
	for _, name := range strings.Fields("NAMES") {
		fmt.Fprintf(pipe, `%s {"t":"start","name":%q}`+"\\n", found[1], name)
		for slot := 0; slot < 12; slot++ {
			value := `["go",false,["i","int","10590"],null]`
			form := `%s {"t":"value","name":%q,"slot":%d,"values":[%s],"raised":null}` + "\\n"
			fmt.Fprintf(pipe, form, found[1], name, slot, value)
		}
		form := `%s {"t":"report","name":%q,"status":"passed","seconds":0,"text":""}` + "\\n"
		fmt.Fprintf(pipe, form, found[1], name)
	}
	fmt.Fprintf(pipe, `%s {"t":"done"}`+"\\n", found[1])
}
""".replace("NAMES", " ".join(SHOP_TURNED))


def attacked(code: str, place: str) -> dict[str, str]:
    """The files that an attack adds to a folder with a wrong product, by path."""
    files = {f"{place}/attack.go": code.replace("PATH", f"{place}/money_test.go")}
    return files | ({f"{place}/forge.go": _FORGE} if "forge(" in code else {})
