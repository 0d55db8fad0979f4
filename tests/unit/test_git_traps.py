"""Each trap that docs/mining.md names has tests on a real repository."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRAPS = {
    "merge commit": (
        "test_a_merge_is_based_on_the_merge_base_and_titled_by_its_pull_request",
        "test_a_branch_that_merged_main_again_is_based_on_what_it_merged_last",
    ),
    "squash": (
        "test_a_squash_with_the_pull_requests_patch_is_a_squash",
        "test_a_squash_onto_a_base_that_moved_is_told_by_what_merging_gives",
        "test_a_squash_that_differs_from_its_pull_request_has_no_known_base",
    ),
    "rebase merge": (
        "test_a_rebase_merge_is_one_change_over_all_its_commits",
        "test_a_rebase_merge_with_numbers_in_its_subjects_is_one_change",
    ),
    "stacked pull requests": (
        "test_of_stacked_squashes_each_is_a_change_of_its_own",
        "test_a_pull_request_that_came_inside_another_ones_merge_is_picked_by_its_head",
        "test_a_pull_request_that_came_with_another_one_is_part_of_it",
    ),
    "pull request into another branch": (
        "test_a_pull_request_into_another_branch_is_picked_by_its_number",
        "test_a_keyword_in_a_pull_request_into_another_branch_counts",
    ),
    "a branch merged into another": (
        "test_a_merged_branch_of_changes_is_looked_at_change_by_change",
        "test_a_change_that_came_through_two_branches_is_a_change_of_its_own",
    ),
    "force-pushed base": (
        "test_a_squash_of_a_head_whose_base_was_force_pushed_away_is_based_on_what_is_there",
        "test_a_merge_of_a_head_whose_base_was_force_pushed_away_is_based_on_what_both_share",
        "test_a_force_pushed_branch_is_followed",
        "test_a_force_pushed_branch_is_noticed_and_equal_fixes_stay_one_task",
    ),
    "revert": (
        "test_a_revert_and_what_it_reverts_are_rejected",
        "test_a_revert_that_was_reverted_counts_no_more",
        "test_a_fix_that_was_reverted_since_is_retired",
    ),
    "backport or cherry-pick": (
        "test_a_cherry_pick_of_what_the_branch_has_is_a_duplicate",
        "test_a_backport_of_what_only_another_branch_has_is_kept",
        "test_a_second_change_with_the_same_patch_is_a_duplicate",
        "test_the_same_patch_in_several_repositories_is_one_task",
    ),
    "binary file": ("test_bytes_are_kept",),
    "mode, symbolic link, type change": ("test_modes_links_renames_and_type_changes_are_kept",),
    "rename": (
        "test_a_rename_is_a_deletion_and_an_addition",
        "test_a_squash_onto_a_base_where_its_file_was_renamed_is_told_by_what_merging_gives",
    ),
    "submodules": (
        "test_a_clone_s_submodules_are_in_the_trees_of_all_its_commits",
        "test_submodules_and_lfs_pointers_are_rejected",
    ),
    "LFS pointer": ("test_submodules_and_lfs_pointers_are_rejected",),
    "CRLF, latin-1, no final newline": (
        "test_bytes_are_kept",
        "test_attributes_of_the_repository_do_not_alter_the_patches",
    ),
    "quoted and non-ASCII path": ("test_odd_paths_are_kept",),
    "300 files": (
        "test_a_change_of_three_hundred_files_is_seen_whole",
        "test_a_change_of_more_than_a_hundred_files_is_too_large",
    ),
    "graft or replace ref": (
        "test_grafts_and_replace_refs_of_the_source_alter_nothing",
        "test_a_clone_url_brings_no_replace_refs",
    ),
    "partial clone": (
        "test_a_partial_clone_never_asks_its_remote",
        "test_a_scan_of_a_partial_clone_leaves_what_it_lacks_and_goes_on",
        "test_a_partial_clone_lacks_what_a_merge_needs_and_says_so",
    ),
    "shallow clone": ("test_a_shallow_clone_is_refused_and_the_cure_named",),
    "hostile configuration, hook or attribute": (
        "test_a_whole_mine_of_a_hostile_repository_runs_nothing_of_it",
        "test_nothing_a_hostile_repository_configures_is_run",
        "test_a_source_that_would_run_a_program_is_refused",
        "test_symbolic_links_in_a_hostile_git_folder_are_not_followed",
    ),
}


@cache
def _integration_tests() -> set[str]:
    texts = (file.read_text(encoding="utf-8") for file in (ROOT / "tests" / "integration").glob("test_*.py"))
    return {name for text in texts for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}


def test_the_page_names_the_traps_that_are_tested():
    page = (ROOT / "docs" / "mining.md").read_text(encoding="utf-8")
    section = page.partition("## Histories as they are")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| .+ \|$", section, re.MULTILINE)
    assert rows[1:] == list(TRAPS)


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_has_its_tests(trap):
    assert set(TRAPS[trap]) <= _integration_tests()
