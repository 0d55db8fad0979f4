"""sightings: each kind of change told apart, its true base found, and what git alone can reject."""

from __future__ import annotations

from datetime import timedelta

import pytest

from harness.core.errors import InputError
from miner.sources.change import MergeStyle
from miner.sources.git import open_source
from miner.sources.history import ChangeFilter, sightings
from tests.repos import FIX, START, Repository, project

OTHER = {"src/other.py": "x = 1\n"}


def look(repo: Repository, wanted: ChangeFilter | None = None):
    cache = repo.path.parent / "cache"
    with open_source(str(repo.path), cache=cache) as copy:
        return list(sightings(copy, wanted))


def by_commit(repo: Repository):
    return {sighting.change.merge_commit: sighting for sighting in look(repo)}


def paths(sighting):
    return [file.path for file in sighting.files]


def feature(repo: Repository, name: str = "feature", *, start: str = "HEAD") -> tuple[str, str]:
    """A branch of two commits."""
    repo.branch(name, start)
    first = repo.commit("Write a failing test", {"tests/test_app.py": FIX["tests/test_app.py"]})
    return first, repo.commit("Add instead of subtracting", {"src/app.py": FIX["src/app.py"]})


def test_a_merge_is_based_on_the_merge_base_and_titled_by_its_pull_request(tmp_path):
    repo = project(tmp_path / "app")
    base = repo.sha()
    _, head = feature(repo)
    repo.checkout("main")
    repo.commit("Elsewhere", OTHER)
    merge = repo.merge("feature", "Merge pull request #12 from ada/feature\n\nFix add\n\nIt subtracted.")
    found = by_commit(repo)[merge]
    assert found.rejection is None
    assert (found.change.style, found.change.number) == (MergeStyle.MERGE, 12)
    assert (found.change.base_commit, found.change.head_commit) == (base, head)
    assert (found.change.title, found.change.body) == ("Fix add", "It subtracted.")
    assert found.change.messages == ("Write a failing test", "Add instead of subtracting")
    assert paths(found) == ["src/app.py", "tests/test_app.py"]
    assert found.change.instance_id == "local__app-12"


def test_a_branch_that_merged_main_again_is_based_on_what_it_merged_last(tmp_path):
    repo = project(tmp_path / "app")
    feature(repo)
    repo.checkout("main")
    newer = repo.commit("Elsewhere", OTHER)
    repo.checkout("feature")
    repo.merge("main", "Merge branch 'main' into feature")
    head = repo.commit("Polish", {"src/app.py": FIX["src/app.py"] + "\n"})
    repo.checkout("main")
    merge = repo.merge("feature", "Merge pull request #3 from ada/feature\n\nFix add")
    found = by_commit(repo)[merge]
    assert (found.change.base_commit, found.change.head_commit) == (newer, head)
    assert paths(found) == ["src/app.py", "tests/test_app.py"]


def test_a_merge_titled_like_a_squash_is_a_merge(tmp_path):
    repo = project(tmp_path / "app")
    feature(repo)
    repo.checkout("main")
    merge = repo.merge("feature", "Fix add (#5)")
    found = by_commit(repo)[merge]
    assert (found.change.style, found.change.number, found.change.title) == (MergeStyle.MERGE, 5, "Fix add")


def test_a_merge_without_a_number_gets_that_of_the_pull_request_it_merged(tmp_path):
    repo = project(tmp_path / "app")
    feature(repo)
    repo.pull_head(9)
    repo.checkout("main")
    merge = repo.merge("feature", "Merge branch 'feature'")
    assert by_commit(repo)[merge].change.number == 9


def test_a_silent_merge_of_one_commit_is_told_by_that_commit(tmp_path):
    repo = project(tmp_path / "app")
    repo.branch("feature")
    repo.commit("Fix add\n\nIt subtracted.", FIX)
    repo.checkout("main")
    merge = repo.merge("feature", "Merge branch 'feature'")
    change = by_commit(repo)[merge].change
    assert (change.title, change.body, change.number) == ("Fix add", "It subtracted.", None)


def test_a_squash_with_the_pull_requests_patch_is_a_squash(tmp_path):
    repo = project(tmp_path / "app")
    feature(repo)
    repo.pull_head(4)
    repo.checkout("main")
    base = repo.commit("Elsewhere", OTHER)
    squash = repo.squash("feature", "Fix add (#4)\n\n* Write a failing test\n* Add")
    found = by_commit(repo)[squash]
    assert found.rejection is None
    assert (found.change.style, found.change.number, found.change.title) == (MergeStyle.SQUASH, 4, "Fix add")
    assert (found.change.base_commit, found.change.head_commit) == (base, squash)


def test_a_squash_whose_surroundings_moved_on_is_still_the_pull_requests(tmp_path):
    repo = project(tmp_path / "app")
    lines = [f"line {number}\n" for number in range(10)]
    repo.commit("Lines", {"src/lines.py": "".join(lines)})
    repo.branch("feature")
    repo.commit("Fix", {"src/lines.py": "".join([*lines[:5], "fixed\n", *lines[6:]])})
    repo.pull_head(4)
    repo.checkout("main")
    moved = [*lines[:3], "moved\n", *lines[4:]]
    repo.commit("Move on", {"src/lines.py": "".join(moved)})
    squash = repo.commit("Fix (#4)", {"src/lines.py": "".join([*moved[:5], "fixed\n", *moved[6:]])})
    assert by_commit(repo)[squash].rejection is None


def test_a_squash_that_differs_from_its_pull_request_has_no_known_base(tmp_path):
    repo = project(tmp_path / "app")
    feature(repo)
    repo.pull_head(4)
    repo.checkout("main")
    squash = repo.commit("Fix add (#4)", {"src/app.py": "something else\n"})
    rejection = by_commit(repo)[squash].rejection
    assert rejection is not None
    assert rejection.reason == "base_unknown"


def test_without_the_pull_requests_head_a_number_means_a_squash(tmp_path):
    repo = project(tmp_path / "app")
    base = repo.sha()
    squash = repo.commit("Fix add (#4)", FIX)
    change = by_commit(repo)[squash].change
    assert (change.style, change.number, change.base_commit) == (MergeStyle.SQUASH, 4, base)


def test_a_rebase_merge_is_one_change_over_all_its_commits(tmp_path):
    repo = project(tmp_path / "app")
    feature(repo)
    repo.pull_head(8)
    repo.checkout("main")
    base = repo.commit("Elsewhere", OTHER)
    tip = repo.rebase_merge("feature")
    found = by_commit(repo)
    assert found[tip].rejection is None
    change = found[tip].change
    assert (change.style, change.number) == (MergeStyle.REBASE, 8)
    assert (change.base_commit, change.head_commit) == (base, tip)
    assert change.messages == ("Write a failing test", "Add instead of subtracting")
    assert repo.sha(f"{tip}^") not in found


def test_a_rebase_merge_with_numbers_in_its_subjects_is_one_change(tmp_path):
    repo = project(tmp_path / "app")
    repo.branch("feature")
    repo.commit("Write a failing test (#8)", {"tests/test_app.py": FIX["tests/test_app.py"]})
    repo.commit("Add (#8)", {"src/app.py": FIX["src/app.py"]})
    repo.pull_head(8)
    repo.checkout("main")
    base = repo.commit("Elsewhere", OTHER)
    tip = repo.rebase_merge("feature")
    change = by_commit(repo)[tip].change
    assert (change.style, change.base_commit) == (MergeStyle.REBASE, base)


def test_a_plain_commit_is_a_change_without_a_number(tmp_path):
    repo = project(tmp_path / "app")
    base = repo.sha()
    tip = repo.commit("Fix add", FIX)
    change = by_commit(repo)[tip].change
    assert (change.style, change.number, change.base_commit) == (MergeStyle.COMMIT, None, base)
    assert change.instance_id == f"local__app-{tip[:8]}"
    assert change.created_at == "2024-01-01T14:00:00Z"


def test_a_number_belongs_to_one_change_only(tmp_path):
    repo = project(tmp_path / "app")
    feature(repo)
    repo.checkout("main")
    merge = repo.merge("feature", "Merge pull request #5 from ada/feature\n\nFix add")
    mention = repo.commit("Word the changelog better (#5)", {"CHANGES.md": "- add\n"})
    found = by_commit(repo)
    assert (found[merge].change.number, found[mention].change.number) == (5, None)


def test_a_merged_branch_of_changes_is_looked_at_change_by_change(tmp_path):
    repo = project(tmp_path / "app")
    repo.branch("stable")
    feature(repo)
    repo.checkout("stable")
    base = repo.commit("Stable goes on", OTHER)
    inner = repo.merge("feature", "Merge pull request #31 from ada/feature\n\nFix add")
    repo.checkout("main")
    repo.commit("Main goes on", {"src/main.py": "y = 1\n"})
    outer = repo.merge("stable", "Merge branch 'stable'")
    found = by_commit(repo)
    assert found[outer].rejection.reason == "branch_merge"
    assert found[inner].rejection is None
    assert found[inner].change.number == 31
    assert paths(found[inner]) == ["src/app.py", "tests/test_app.py"]
    assert base in found


def test_root_octopus_and_empty_changes_are_rejected(tmp_path):
    repo = project(tmp_path / "app")
    root = repo.sha()
    empty = repo.commit("Nothing")
    for name in ("one", "two"):
        repo.branch(name, "main")
        repo.commit(name, {f"src/{name}.py": "1\n"})
    repo.checkout("main")
    repo.git("merge", "--quiet", "--no-ff", "-m", "Merge branches 'one' and 'two'", "one", "two")
    found = {sha: sighting.rejection.reason for sha, sighting in by_commit(repo).items() if sighting.rejection}
    assert found == {root: "root_commit", empty: "empty_change", repo.sha(): "octopus_merge"}


def test_a_revert_and_what_it_reverts_are_rejected(tmp_path):
    repo = project(tmp_path / "app")
    fix = repo.commit("Fix add (#2)", FIX)
    repo.tick()
    repo.git("revert", "--no-edit", fix)
    revert = repo.sha()
    found = by_commit(repo)
    assert found[revert].rejection.reason == "is_revert"
    assert found[fix].rejection.reason == "reverted"
    assert found[fix].change.reverted_by == revert


def test_a_reverted_pull_request_is_known_by_its_number(tmp_path):
    repo = project(tmp_path / "app")
    fix = repo.commit("Fix add (#2)", FIX)
    repo.commit('Revert "Fix add" (#3)\n\nReverts acme/app#2', {"src/app.py": "def add(a, b):\n    return a - b\n"})
    assert by_commit(repo)[fix].rejection.reason == "reverted"


def test_a_revert_that_was_reverted_counts_no_more(tmp_path):
    repo = project(tmp_path / "app")
    fix = repo.commit("Fix add (#2)", FIX)
    for _ in range(2):
        repo.tick()
        repo.git("revert", "--no-edit", "HEAD")
    assert by_commit(repo)[fix].rejection is None


def test_a_revert_within_the_changes_own_branch_reverts_nothing_else(tmp_path):
    repo = project(tmp_path / "app")
    repo.branch("feature")
    repo.commit("Try", {"src/app.py": "1\n"})
    repo.tick()
    repo.git("revert", "--no-edit", "HEAD")
    repo.commit("Fix", FIX)
    repo.checkout("main")
    merge = repo.merge("feature", "Merge pull request #2 from ada/feature\n\nFix add")
    assert by_commit(repo)[merge].rejection is None


def test_a_cherry_pick_of_what_the_branch_has_is_a_duplicate(tmp_path):
    repo = project(tmp_path / "app")
    fix = repo.commit("Fix add", FIX)
    again = repo.commit(f"Fix add\n\n(cherry picked from commit {fix})", {"src/app.py": "again\n"})
    found = by_commit(repo)
    assert found[again].rejection.reason == "duplicate"
    assert found[fix].rejection is None


def test_a_backport_of_what_only_another_branch_has_is_kept(tmp_path):
    repo = project(tmp_path / "app")
    again = repo.commit(f"Fix add\n\n(cherry picked from commit {'a1' * 20})", FIX)
    assert by_commit(repo)[again].rejection is None


def test_submodules_and_lfs_pointers_are_rejected(tmp_path):
    repo = project(tmp_path / "app")
    oid = "sha256:" + "4d" * 32
    lfs = repo.commit("Model", {"m.bin": f"version https://git-lfs.github.com/spec/v1\noid {oid}\nsize 12345\n"})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{repo.sha()},vendor/lib")
    repo.git("commit", "--quiet", "-m", "Vendor")
    found = by_commit(repo)
    assert found[lfs].rejection.reason == "lfs"
    assert found[repo.sha()].rejection.reason == "submodule"


def test_a_change_of_more_than_a_hundred_files_is_too_large(tmp_path):
    repo = project(tmp_path / "app")
    sha = repo.commit("Many", {f"src/m{number}.py": f"{number}\n" for number in range(101)})
    assert by_commit(repo)[sha].rejection.reason == "too_large"


def test_every_change_is_seen_once_newest_first(tmp_path):
    repo = project(tmp_path / "app")
    shas = [repo.sha(), *(repo.commit(f"Change {number}", {"src/app.py": f"{number}\n"}) for number in range(5))]
    assert [sighting.change.merge_commit for sighting in look(repo)] == shas[::-1]


# -- picking


def three(tmp_path):
    repo = project(tmp_path / "app")
    return repo, [repo.commit(f"Change {number} (#{number})", {"src/app.py": f"{number}\n"}) for number in (1, 2, 3)]


def test_a_pull_request_is_picked_by_its_number(tmp_path):
    repo, shas = three(tmp_path)
    found = look(repo, ChangeFilter(numbers=frozenset({2})))
    assert [sighting.change.merge_commit for sighting in found] == [shas[1]]


def test_a_pull_request_that_came_inside_another_ones_merge_is_picked_by_its_head(tmp_path):
    repo = project(tmp_path / "app")
    base = repo.sha()
    repo.branch("release")
    head = repo.commit("Fix add", FIX)
    repo.pull_head(6)
    repo.commit("More", OTHER)
    repo.checkout("main")
    repo.merge("release", "Merge pull request #7 from acme/release\n\nRelease")
    [found] = look(repo, ChangeFilter(numbers=frozenset({6})))
    assert (found.change.base_commit, found.change.head_commit, found.change.number) == (base, head, 6)
    assert paths(found) == ["src/app.py", "tests/test_app.py"]


def test_a_change_is_picked_by_a_commit_that_came_with_it(tmp_path):
    repo = project(tmp_path / "app")
    first, _ = feature(repo)
    repo.checkout("main")
    merge = repo.merge("feature", "Merge branch 'feature'")
    found = look(repo, ChangeFilter(commits=frozenset({first[:10]})))
    assert [sighting.change.merge_commit for sighting in found] == [merge]


def test_a_commit_of_another_branch_can_be_picked(tmp_path):
    repo = project(tmp_path / "app")
    repo.branch("side")
    sha = repo.commit("Fix add", FIX)
    repo.checkout("main")
    found = look(repo, ChangeFilter(commits=frozenset({sha})))
    assert [sighting.change.merge_commit for sighting in found] == [sha]


def test_since_and_until_bound_the_time_of_the_merge(tmp_path):
    repo, shas = three(tmp_path)
    second = START + timedelta(hours=3)
    assert [s.change.merge_commit for s in look(repo, ChangeFilter(since=second))] == [shas[2], shas[1]]
    found = look(repo, ChangeFilter(since=second, until=second))
    assert [s.change.merge_commit for s in found] == [shas[1]]


def test_an_unknown_pull_request_is_an_input_error(tmp_path):
    repo, _ = three(tmp_path)
    with pytest.raises(InputError, match="pull request 99"):
        look(repo, ChangeFilter(numbers=frozenset({99})))


def test_an_unknown_commit_is_an_input_error(tmp_path):
    repo, _ = three(tmp_path)
    with pytest.raises(InputError, match="no commit"):
        look(repo, ChangeFilter(commits=frozenset({"f" * 40})))


def test_a_pull_request_into_another_branch_is_picked_by_its_number(tmp_path):
    repo = project(tmp_path / "app")
    repo.branch("1.x")
    fixed = repo.commit("Fix add (#8)", FIX)
    repo.checkout("main")
    [seen] = look(repo, ChangeFilter(numbers=frozenset({8})))
    assert (seen.change.head_commit, seen.change.base_commit, seen.rejection) == (fixed, repo.sha("main"), None)


def test_of_two_squashes_with_one_number_the_one_its_head_merges_to_has_it(tmp_path):
    repo = project(tmp_path / "app")
    repo.commit("Lines", {"src/lines.py": "".join(f"{n}\n" for n in range(9))})
    repo.branch("topic")
    repo.commit("Fix", {"src/lines.py": "".join(f"{n}\n" for n in (*range(8), "fixed"))})
    repo.pull_head(4)
    repo.checkout("main")
    true = repo.commit("Fix (#4)", {"src/lines.py": "".join(f"{n}\n" for n in (*range(8), "fixed"))})
    again = repo.commit("Fix (#4)", {"src/more.py": "carried over\n"})
    found = by_commit(repo)
    assert (found[true].change.number, found[again].change.number) == (4, None)


def test_a_squash_onto_a_base_that_moved_is_told_by_what_merging_gives(tmp_path):
    repo = project(tmp_path / "app")
    lines = [f"{n}\n" for n in range(9)]
    repo.commit("Lines", {"src/lines.py": "".join(lines)})
    repo.branch("topic")
    repo.commit("Fix", {"src/lines.py": "".join([*lines[:8], "fixed\n"]), "src/same.py": "1\n"})
    repo.pull_head(4)
    repo.checkout("main")
    repo.commit("Half of it already", {"src/same.py": "1\n"})
    squash = repo.squash("topic", "Fix (#4)")
    found = by_commit(repo)[squash]
    assert (found.rejection, found.change.base_commit) == (None, repo.sha(f"{squash}^"))


# -- further traps


def lines(count: int, changed: dict[int, str] | None = None) -> str:
    return "".join(f"{(changed or {}).get(number, number)}\n" for number in range(count))


def test_a_squash_onto_a_base_where_its_file_was_renamed_is_told_by_what_merging_gives(tmp_path):
    repo = project(tmp_path / "app")
    repo.commit("Lines", {"src/old.py": lines(30)})
    repo.branch("topic")
    repo.commit("Fix", {"src/old.py": lines(30, {4: "fixed"})})
    repo.pull_head(4)
    repo.checkout("main")
    repo.git("mv", "src/old.py", "src/new.py")
    repo.commit("Rename")
    squash = repo.squash("topic", "Fix (#4)")
    found = by_commit(repo)[squash]
    assert (found.rejection, paths(found)) == (None, ["src/new.py"])


def test_a_rename_is_a_deletion_and_an_addition(tmp_path):
    repo = project(tmp_path / "app")
    repo.git("mv", "src/app.py", "src/sums.py")
    sha = repo.commit("Fix the name")
    assert [(file.status, file.path) for file in by_commit(repo)[sha].files] == [
        ("D", "src/app.py"),
        ("A", "src/sums.py"),
    ]


def test_of_stacked_squashes_each_is_a_change_of_its_own(tmp_path):
    repo = project(tmp_path / "app")
    repo.branch("below")
    repo.commit("Fix below", {"src/below.py": "1\n"})
    repo.pull_head(1)
    repo.branch("above")
    repo.commit("Fix above", {"src/above.py": "1\n"})
    repo.pull_head(2)
    repo.checkout("main")
    first = repo.squash("below", "Fix below (#1)")
    second = repo.squash("above", "Fix above (#2)")
    found = by_commit(repo)
    assert [(found[sha].rejection, found[sha].change.number, paths(found[sha])) for sha in (first, second)] == [
        (None, 1, ["src/below.py"]),
        (None, 2, ["src/above.py"]),
    ]
    assert found[second].change.base_commit == first


def test_a_squash_of_a_head_whose_base_was_force_pushed_away_is_based_on_what_is_there(tmp_path):
    repo = project(tmp_path / "app")
    repo.commit("Wrongly worded", {"src/base.py": "1\n"})
    repo.branch("topic")
    repo.commit("Fix add", FIX)
    repo.pull_head(4)
    repo.checkout("main")
    repo.git("commit", "--quiet", "--amend", "-m", "Rightly worded")
    base = repo.sha()
    squash = repo.commit("Fix add (#4)", FIX)
    found = by_commit(repo)[squash]
    assert (found.rejection, found.change.base_commit) == (None, base)
    assert paths(found) == ["src/app.py", "tests/test_app.py"]


def test_a_merge_of_a_head_whose_base_was_force_pushed_away_is_based_on_what_both_share(tmp_path):
    repo = project(tmp_path / "app")
    shared = repo.sha()
    repo.commit("Wrong", {"src/base.py": "1\n"})
    repo.branch("topic")
    head = repo.commit("Fix add", FIX)
    repo.checkout("main")
    repo.git("reset", "--quiet", "--hard", shared)
    repo.commit("Right", {"src/other.py": "2\n"})
    merge = repo.merge("topic", "Merge pull request #4 from ada/topic\n\nFix add")
    found = by_commit(repo)[merge]
    assert (found.change.base_commit, found.change.head_commit) == (shared, head)


def test_a_change_of_three_hundred_files_is_seen_whole(tmp_path):
    repo = project(tmp_path / "app")
    files = {f"src/m{number:03}.py": f"{number}\n" for number in range(301)}
    sha = repo.commit("Many", files)
    found = by_commit(repo)[sha]
    assert paths(found) == sorted(files)
    assert "301 files" in found.rejection.detail
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        assert list(copy.diff_sections(repo.sha("HEAD^"), sha)) == sorted(files)


def test_a_merge_of_an_unrelated_history_has_no_known_base(tmp_path):
    repo = project(tmp_path / "app")
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.commit("Elsewhere", OTHER)
    repo.checkout("main")
    repo.tick()
    repo.git(
        "merge",
        "--quiet",
        "--no-ff",
        "--allow-unrelated-histories",
        "-s",
        "ours",
        "-m",
        "Merge branch 'other'",
        "other",
    )
    assert by_commit(repo)[repo.sha()].rejection.reason == "base_unknown"


def test_a_change_that_came_through_two_branches_is_a_change_of_its_own(tmp_path):
    repo = project(tmp_path / "app")
    repo.branch("2.x")
    repo.branch("2.0.x")
    feature(repo)
    repo.pull_head(31)
    repo.checkout("2.0.x")
    base = repo.commit("Old goes on", OTHER)
    inner = repo.merge("feature", "Merge pull request #31 from ada/feature\n\nFix add")
    repo.checkout("2.x")
    repo.commit("Newer goes on", {"src/newer.py": "1\n"})
    middle = repo.merge("2.0.x", "Merge branch '2.0.x' into 2.x")
    repo.checkout("main")
    repo.commit("Main goes on", {"src/main.py": "y = 1\n"})
    outer = repo.merge("2.x", "Merge branch '2.x'")
    found = by_commit(repo)
    assert [found[sha].rejection.reason for sha in (outer, middle)] == ["branch_merge"] * 2
    assert (found[inner].rejection, paths(found[inner])) == (None, ["src/app.py", "tests/test_app.py"])
    assert base in found
    [picked] = look(repo, ChangeFilter(numbers=frozenset({31})))
    assert picked.change.merge_commit == inner
    shas = [sighting.change.merge_commit for sighting in look(repo)]
    assert len(shas) == len(set(shas))


def test_a_pull_request_that_was_reworded_when_it_was_rebased_by_hand_keeps_its_number(tmp_path):
    repo = project(tmp_path / "app")
    repo.branch("topic")
    repo.commit("fix add", FIX)
    repo.pull_head(6)
    repo.checkout("main")
    base = repo.commit("Elsewhere", OTHER)
    repo.rebase_merge("topic")
    repo.git("commit", "--quiet", "--amend", "-m", "Fixed #1 -- Added instead of subtracting.")
    found = by_commit(repo)[repo.sha()]
    assert (found.change.number, found.change.style, found.change.base_commit) == (6, MergeStyle.REBASE, base)
