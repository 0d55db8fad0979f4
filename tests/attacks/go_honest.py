"""Honest patches of Go: right packages that give what the fix gives in another way."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

PLACE, TEST, BESIDE = "honest", "honest/honest_test.go", "honest/same_test.go"
SAME = """\
package honest

import "testing"

func same(t testing.TB, want, got interface{}) {
	t.Helper()
	if want != got {
		t.Errorf("got %v, want %v", got, want)
	}
}
"""
"""What the test calls of the file beside it."""
KEPT = """\
package honest

import (
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/stretchr/testify/assert"
	_ "github.com/stretchr/testify/suite"
)
"""
"""Of the folder of all of them, so that the libraries of its test are there."""
_TYPES = """\
type Item struct {
	Name         string
	Cents, Count int
	Tags         []string
}

type Summary struct {
	Count, Total int
	Tags         []string
}
"""
WRONG = (
    "package shop\n\n"
    + _TYPES
    + """
func Total(items []Item) int                              { return 0 }
func Summarize(items []Item) Summary                      { return Summary{} }
func Stock(items []Item) map[string]int                   { return nil }
func Tags(items []Item) []string                          { return nil }
func Find(items []Item, name string) (*Item, error)       { return nil, nil }
func Lines(items []Item) string                           { return "" }
func Ratio(items []Item) float64                          { return 0 }
func Raw(items []Item) []byte                             { return nil }
func Any(items []Item) interface{}                        { return nil }
func Each(items []Item, do func(name string, cents int))  {}
func Must(items []Item, name string) Item                 { return Item{} }
"""
)
RIGHT = (
    'package shop\n\nimport (\n\t"fmt"\n\t"sort"\n\t"strings"\n)\n\n'
    + _TYPES
    + """
func Total(items []Item) int {
	sum := 0
	for _, item := range items {
		sum += item.Cents * item.Count
	}
	return sum
}

func Summarize(items []Item) Summary {
	return Summary{Count: len(items), Total: Total(items), Tags: Tags(items)}
}

func Stock(items []Item) map[string]int {
	stock := map[string]int{}
	for _, item := range items {
		stock[item.Name] = item.Count
	}
	return stock
}

func Tags(items []Item) []string {
	seen, tags := map[string]bool{}, []string{}
	for _, item := range items {
		for _, tag := range item.Tags {
			if !seen[tag] {
				seen[tag], tags = true, append(tags, tag)
			}
		}
	}
	sort.Strings(tags)
	return tags
}

func Find(items []Item, name string) (*Item, error) {
	for i := range items {
		if items[i].Name == name {
			return &items[i], nil
		}
	}
	return nil, fmt.Errorf("no item %q", name)
}

func Lines(items []Item) string {
	lines := []string{}
	for _, item := range items {
		lines = append(lines, fmt.Sprintf("%s %d", item.Name, item.Cents))
	}
	return strings.Join(lines, "\\n")
}

func Ratio(items []Item) float64 { return float64(items[0].Cents) / float64(Total(items)) }

func Raw(items []Item) []byte { return []byte(Lines(items)) }

func Any(items []Item) interface{} { return map[string]interface{}{"total": Total(items), "tags": Tags(items)} }

func Each(items []Item, do func(name string, cents int)) {
	for _, item := range items {
		do(item.Name, item.Cents)
	}
}

func Must(items []Item, name string) Item {
	item, err := Find(items, name)
	if err != nil {
		panic(err.Error())
	}
	return *item
}
"""
)
_HEAD = """\
package honest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/suite"
"""
_OF_ONE = """
func Test_NAME(t *testing.T) {
	items := []NAME.Item{
		{"a", 500, 2, []string{"new", "big"}},
		{Name: "b", Cents: 250, Count: 1, Tags: []string{"new"}},
	}
	t.Run("total", func(t *testing.T) {
		if got := NAME.Total(items); got != 1250 {
			t.Errorf("got %d", got)
		}
		same(t, 1250, NAME.Total(items))
		assert.Equal(t, 1250, NAME.Total(items))
		assert.Greater(t, NAME.Total(items), 1249)
	})
	t.Run("summary", func(t *testing.T) {
		want := NAME.Summary{Count: 2, Total: 1250, Tags: []string{"big", "new"}}
		if got := NAME.Summarize(items); !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if diff := cmp.Diff([]string{"big", "new"}, NAME.Summarize(items).Tags, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("stock", func(t *testing.T) {
		assert.Equal(t, map[string]int{"b": 1, "a": 2}, NAME.Stock(items))
		assert.Len(t, NAME.Stock(items), 2)
		if got, ok := NAME.Stock(items)["a"]; !ok || got != 2 {
			t.Error(got)
		}
	})
	t.Run("tags", func(t *testing.T) {
		assert.ElementsMatch(t, []string{"new", "big"}, NAME.Tags(items))
		assert.Contains(t, NAME.Tags(items), "new")
		assert.NotContains(t, NAME.Tags(items), "old")
		assert.Empty(t, NAME.Tags(nil))
	})
	t.Run("find", func(t *testing.T) {
		got, err := NAME.Find(items, "b")
		if err != nil || got == nil || got.Cents != 250 {
			t.Fatal(got, err)
		}
		_, err = NAME.Find(items, "z")
		assert.EqualError(t, err, `no item "z"`)
		assert.ErrorContains(t, err, "no item")
		assert.Error(t, err)
		wrapped := fmt.Errorf("finding: %w", err)
		assert.ErrorIs(t, wrapped, err)
		if !errors.Is(wrapped, err) || errors.Is(err, wrapped) {
			t.Error(wrapped)
		}
		assert.IsType(t, &NAME.Item{}, got)
		assert.NotZero(t, got)
	})
	t.Run("lines", func(t *testing.T) {
		if got := NAME.Lines(items); !strings.HasPrefix(got, "a 500") || got != "a 500\\nb 250" {
			t.Error(got)
		}
		if !bytes.Equal(NAME.Raw(items), []byte("a 500\\nb 250")) {
			t.Error("not the same")
		}
	})
	t.Run("numbers", func(t *testing.T) {
		if got := NAME.Ratio(items); got != 0.4 {
			t.Error(got)
		}
		assert.InDelta(t, 0.4, NAME.Ratio(items), 0.01)
	})
	t.Run("any", func(t *testing.T) {
		assert.Equal(t, map[string]interface{}{"total": 1250, "tags": []string{"big", "new"}}, NAME.Any(items))
	})
	t.Run("each", func(t *testing.T) {
		names, sum := []string{}, 0
		NAME.Each(items, func(name string, cents int) { names, sum = append(names, name), sum+cents })
		assert.Equal(t, []string{"a", "b"}, names)
		if sum != 750 {
			t.Error(sum)
		}
	})
	t.Run("must", func(t *testing.T) {
		assert.PanicsWithValue(t, `no item "z"`, func() { NAME.Must(items, "z") })
		assert.NotPanics(t, func() { NAME.Must(items, "a") })
	})
}

type suite_NAME struct{ suite.Suite }

func (s *suite_NAME) TestTotal() {
	s.Equal(500, NAME.Total([]NAME.Item{{Cents: 500, Count: 1}}))
	s.Require().Len(NAME.Stock([]NAME.Item{{Name: "c"}}), 1)
}

func TestSuite_NAME(t *testing.T) { suite.Run(t, new(suite_NAME)) }
"""
_IMPORT = re.compile(r"\b(fmt|sort|strings|strconv|errors|bytes|sync|slices|maps|math|big|bufio|iter|unsafe|reflect)\.")
_PATHS = {"big": "math/big"}
_DECLARED = re.compile(r"(?:func|type|var) (\w+)\b")


def variants() -> dict[str, str]:
    """By name, a whole package that is right."""
    told: dict[str, str] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
    return {name.replace("-", "_"): _merged(text) for name, text in told.items()}


def test_file(names: list[str]) -> str:
    """The test of some variants, each by its name."""
    imports = "".join(map(test_import, names))
    return f"{_HEAD}\n{imports})\n" + "".join(_OF_ONE.replace("NAME", name) for name in names)


def test_import(name: str) -> str:
    """The line by which the test has a variant."""
    return f'\t{name} "example.com/money/{PLACE}/{name}"\n'


def _merged(text: str) -> str:
    """The fix with what a variant declares in place of what is called the same there."""
    own = set(_DECLARED.findall(text))
    parts = re.split(r"\n(?=func |type )", RIGHT.partition(")\n\n")[2])
    kept = [part for part in parts if _DECLARED.match(part.strip())[1] not in own]  # type: ignore[index]
    body = "\n".join((*kept, text))
    imports = sorted({_PATHS.get(name, name) for name in _IMPORT.findall(body)})
    return "package shop\n\nimport (\n" + "".join(f'\t"{path}"\n' for path in imports) + f")\n\n{body}"
