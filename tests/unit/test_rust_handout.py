"""What stripped tests of Rust hand out, compiled by the toolchain of this machine."""

from __future__ import annotations

import json
import shutil

import pytest

from harness.core import process
from harness.languages.rust.language import part

pytestmark = pytest.mark.skipif(shutil.which("rustc") is None, reason="needs Rust")
PROGRAM = """
#[path = "handout.rs"]
mod goldseam;
#[derive(Debug)]
struct Denies(u8);
impl PartialEq for Denies { fn eq(&self, _: &Denies) -> bool { false } }
#[derive(Debug, PartialEq)]
struct Derives(u8);
fn main() {
    use self::goldseam::{Hidden as _, Shown as _};
    self::goldseam::hand(0, &[(&self::goldseam::Of(self::goldseam::same(&(Derives(1))))).told_goldseam()], None);
    self::goldseam::hand(1, &[(&self::goldseam::Of(self::goldseam::same(&(Denies(1))))).told_goldseam()], None);
    self::goldseam::hand(2, &[(&self::goldseam::Of(&(Denies(1)))).told_goldseam()], None);
    self::goldseam::hand(3, &[(&self::goldseam::Of(self::goldseam::same(&(vec![f64::NAN])))).told_goldseam()], None);
}
"""


def test_what_denies_that_it_equals_itself_is_not_shown_where_it_is_compared(tmp_path):
    (tmp_path / "handout.rs").write_text(part("handout.rs"), encoding="utf-8")
    (tmp_path / "main.rs").write_text(PROGRAM, encoding="utf-8")
    program, values = tmp_path / "main", tmp_path / "values"
    values.touch()
    process.run(["rustc", "--edition=2021", "-o", str(program), str(tmp_path / "main.rs")])
    process.run([str(program)], env={"GOLDSEAM_VALUES": str(values)})
    frames = map(json.loads, values.read_text(encoding="utf-8").splitlines())
    assert [frame["values"][0][2] for frame in frames] == ["Derives(1)", None, "Denies(1)", None]
