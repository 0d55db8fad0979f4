"""Which files a model is shown, and how a prompt shows them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.errors import InputError
from harness.solve import prompts, retrieve
from harness.solve.models.tokens import likely
from tests import tiny

FILES = {
    "src/shop/basket.py": "class Basket:\n    def add_item(self, item):\n        self.items.append(item)\n",
    "src/shop/sorting.py": "def sort_by_price(items):\n    return sorted(items, key=price)\n",
    "src/shop/__init__.py": "",
    "tests/test_sorting.py": "def test_sort_by_price():\n    assert sort_by_price([2, 1]) == [1, 2]\n" * 3,
    "CHANGES.md": "sort by price: items are sorted by price when you sort them by price\n" * 3,
    "setup.cfg": "[metadata]\n",
}


def test_parts_of_identifiers_are_found():
    assert retrieve.rank("The sort by price goes wrong", FILES)[0] == "src/shop/sorting.py"
    assert retrieve.rank("Adding an item to the basket fails", FILES)[0] == "src/shop/basket.py"


@pytest.mark.parametrize("name", ["src/shop/basket.py", "shop.basket"])
def test_a_file_that_the_statement_names_goes_first(name):
    assert retrieve.rank(f"sort by price, price, price; see {name}", FILES)[0] == "src/shop/basket.py"


def test_what_has_nothing_in_common_is_left_out_unless_that_is_everything():
    assert "setup.cfg" not in retrieve.rank("sort by price", FILES)
    everything = retrieve.rank("zzz", FILES)
    assert sorted(everything) == sorted(FILES)
    assert everything[0].startswith("src/")
    assert everything[-1] == "setup.cfg"


def test_only_text_that_may_be_code_is_shown():
    found = retrieve.texts({"a.py": b"x = 1\n", "b.png": b"x", "c.py": b"\0", "d.py": b"\xff", "uv.lock": b"x"})
    assert found == {"a.py": "x = 1\n"}


@pytest.mark.parametrize("name", ["src/cart.test.ts", "src/__tests__/cart.js", "spec/cart.js", "src/cart-spec.mjs"])
def test_what_is_a_test_of_javascript_by_its_name_comes_behind_the_code(name):
    files = {name: "sortByPrice();\n" * 3, "src/cart.ts": "export function sortByPrice() {}\n", "pnpm-lock.yaml": "x"}
    assert retrieve.rank("Sorting by price is wrong: sortByPrice", files)[:2] == ["src/cart.ts", name]
    assert "pnpm-lock.yaml" not in retrieve.texts({path: text.encode() for path, text in files.items()})


def test_a_long_file_of_javascript_is_cut_where_functions_methods_and_tests_begin():
    heads = ("module.exports.one = () => {", "  async two(a) {", "describe('three', () => {", "async function four() {")
    text = "\n".join(f"{head}\n" + "  x;\n" * 30 + "}" for head in heads)
    starts = [text.splitlines()[start] for start, _ in retrieve._blocks(text.splitlines(keepends=True))]
    assert starts == list(heads)


def test_a_line_without_end_begins_nothing_and_is_not_searched_for_long():
    lines = ["x = 1\n"] * 20 + ["a(" + "x) " * 300_000 + "\n"]
    assert retrieve._blocks(lines) == [(0, len(lines))]


def test_a_long_file_of_java_and_kotlin_is_cut_where_methods_of_any_type_begin():
    heads = (
        "public final class Prices {",
        "    public List<String> names(Map<String, Integer> counts) {",
        "    static <T extends Price> T first(List<T> all) throws IOException {",
        "    protected final synchronized int[] sizes() {",
        "    java.util.Set<Price> half() {",
        "    Prices(int euros) {",
        "    override suspend fun name(): String =",
    )
    others = "\n".join(("    return half(() -> {", "    int y = of(1);", "    } else if(y) {") * 7)
    text = "\n".join(f"{head}\n{others}" for head in heads)
    starts = [text.splitlines()[start] for start, _ in retrieve._blocks(text.splitlines(keepends=True))]
    assert starts == list(heads)


TESTS = (
    "src/integrationTest/java/acme/Prices.java",
    "core/src/testFixtures/kotlin/Prices.kt",
    "acme/PricesTest.java",
    "acme/PricesTest.kt",
    "acme/PricesSpec.groovy",
    "src/de/tests.rs",
    "tests.rs",
    "crates/money/tests/it/prices.rs",
    "money/prices_test.go",
    "shop/tests.py",
    "test_prices.py",
)
CODE = (
    "src/main/java/acme/test/Prices.java",
    "src/main/java/acme/PriceSpec.java",
    "src/latest/prices.py",
    "src/contests.rs",
    "acme/Contest.java",
    "acme/prices_testing.go",
)


def test_what_is_a_test_of_any_language_by_its_path_comes_behind_the_code():
    for path in (*TESTS, *CODE):
        assert retrieve.rank("zzz", {path: "", "zz.py": ""})[0] == ("zz.py" if path in TESTS else path), path


def long_file() -> str:
    parts = [f"def filler_{number}():\n" + "    pass\n" * 30 for number in range(40)]
    parts[20] = "def sort_by_price(items):\n" + "    price = items\n" * 30
    return "\n".join(parts)


def test_of_a_long_file_the_parts_that_fit_are_shown():
    files = {"src/big.py": long_file()}
    shown = retrieve.choose("sort by price", files, budget=700)
    assert shown
    assert not any(one.is_whole for one in shown)
    assert "def sort_by_price" in shown[0].text
    lines = files["src/big.py"].splitlines(keepends=True)
    assert all(one.text == "".join(lines[one.first - 1 : one.last]) for one in shown)


@pytest.mark.parametrize("budget", [50, 200, 700, 5000])
def test_the_budget_is_kept(budget):
    files = {**FILES, "src/big.py": long_file()}
    shown = retrieve.choose("sort by price in the basket", files, budget=budget)
    assert sum(likely(len(one.text.encode())) for one in shown) <= budget


def test_named_files_are_shown_in_place_of_a_search():
    shown = retrieve.choose("sort by price", FILES, budget=1000, only=["src/shop/basket.py", "gone.py"])
    assert [one.path for one in shown] == ["src/shop/basket.py"]


INSTANCE = tiny.task().instance


def test_every_shipped_prompt_shows_statement_and_files_behind_the_header():
    shown = retrieve.choose("sort by price", {"src/x.py": "text = '''\n```\n'''\n"}, budget=1000)
    for name in prompts.shipped():
        system, user = prompts.load(name).messages(INSTANCE, shown, paths=["src/x.py"], header="canary 7")
        assert (system.role, user.role) == ("system", "user")
        assert system.content.startswith("canary 7\n\n")
        assert INSTANCE.problem_statement in user.content
        assert "src/x.py\n````\ntext = '''\n```\n'''\n" in user.content  # a fence that the file does not hold


def test_a_part_of_a_file_says_which_lines_it_is():
    part = retrieve.Excerpt(path="x.py", text="pass\n", first=10, last=10, total=90)
    _, user = prompts.load().messages(INSTANCE, [part], paths=[], header="")
    assert "x.py (lines 10-10 of 90)" in user.content


def test_a_prompt_of_one_s_own_is_named_after_its_file_and_known_by_its_text(tmp_path):
    path = tmp_path / "mine.j2"
    path.write_text("Fix: {{ statement }} {% for path in paths %}{{ path }} {% endfor %}")
    prompt = prompts.load(str(path))
    (message,) = prompt.messages(INSTANCE, [], paths=["a.py"], header="canary 7")
    assert (prompt.name, message.role) == ("mine.j2", "user")
    assert message.content == f"canary 7\n\nFix: {INSTANCE.problem_statement} a.py"
    assert prompt.digest != replace(prompt, text=prompt.text + " ").digest


@pytest.mark.parametrize(("text", "told"), [("{{ statement ", "is not a template"), (None, "there is no prompt")])
def test_what_is_no_prompt_is_told(tmp_path, text, told):
    path = tmp_path / "mine.j2"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=told):
        prompts.load(str(path))


def test_a_template_cannot_reach_into_python(tmp_path):
    prompt = prompts.Prompt(name="mine", text="{{ statement.__class__.__mro__ }}")
    with pytest.raises(InputError, match="cannot be filled in"):
        prompt.messages(INSTANCE, [], paths=[], header="")
