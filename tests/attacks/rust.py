"""Attacks on Rust's tests: files that a patch adds to a wrong product, in the style of suite/*.yaml.

Each stands in a module of its own (`placed`), so that one trial has many of them.
"""

from __future__ import annotations

Files = dict[str, str]
LIB, PRICES, TEST = "src/lib.rs", "src/money.rs", "tests/prices.rs"
MANIFEST = """\
[package]
name = "money"
version = "1.0.0"
edition = "2021"
rust-version = "1.70"

[[test]]
name = "own"
harness = false
"""
_GIVEN = "fn given(cents: i64) -> i64 { cents }\n"
BASE = f"""\
{_GIVEN}
/// Takes a share off.
pub fn price(cents: i64, _off: i64) -> i64 {{ given(cents) }}
"""
RIGHT = BASE.replace("_off", "off").replace("given(cents) }", "given(cents) - cents * off / 100 }")
_TURNED = "    #[test]\n    fn price() { assert_eq!(money::%s::price(5000, 50), 2500); }\n"
_STAYS = "    #[test]\n    fn nothing_off() { assert_eq!(money::%s::price(4217, 0), 4217); }\n"


def placed(name: str, files: Files) -> Files:
    """Files of the module `money` as those of another one."""
    module = module_of(name)
    return {path.replace("money", module): text for path, text in files.items()}


def module_of(name: str) -> str:
    """A name as Rust has it."""
    return name.replace("-", "_")


def _called(body: str) -> Files:
    """The wrong product, with something that runs in each test."""
    return {PRICES: BASE.replace("{ cents }", f"{{ {body} cents }}")}


_EXIT = "std::process::exit(0);"
_OUTPUT = (
    "running 1 test\\ntest price ... ok\\n\\n"
    "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\\n\\n"
)
_FRAMES = "".join(
    f'{{\\"t\\": \\"report\\", \\"id\\": \\"{TEST}::{name}::price\\", \\"status\\": \\"passed\\", '
    f'\\"seconds\\": 0, \\"text\\": \\"\\"}}\\n{{\\"t\\": \\"done\\"}}\\n'
    for name in ("money", "writes_frames")
)
_WRITE = (
    'extern "C" {{ fn write(fd: i32, text: *const u8, size: usize) -> isize; }} '
    'unsafe {{ write({0}, "{1}".as_ptr(), {2}); }}'
)


def _written(fd: int, text: str) -> str:
    size = len(text.replace("\\n", "\n").replace('\\"', '"'))
    return _WRITE.format(fd, text, size)


ENDS: dict[str, Files] = {
    "exits": _called(_EXIT),
    "exits-at-once": _called('extern "C" { fn _exit(code: i32) -> !; } unsafe { _exit(0) }'),
    "exits-in-a-thread": _called(f"std::thread::spawn(|| {{ {_EXIT} }}).join().unwrap();"),
    "exits-in-a-hook": _called(f"std::panic::set_hook(Box::new(|_| {{ {_EXIT} }}));"),
    "says-nothing-of-panics": _called("std::panic::set_hook(Box::new(|_| {}));"),
    "aborts": _called("std::process::abort();"),
    "prints-what-libtest-prints": _called(f'print!("{_OUTPUT}"); {_EXIT}'),
    "writes-what-libtest-prints": _called(f"{_written(1, _OUTPUT)} {_EXIT}"),
    "closes-its-output": _called('extern "C" { fn close(fd: i32) -> i32; } unsafe { close(1); close(2); }'),
    "sets-variables": _called(
        'std::env::set_var("RUST_TEST_NOCAPTURE", "1"); std::env::set_var("RUST_TEST_THREADS", "0");'
    ),
    "is-another-program": _called(
        'use std::os::unix::process::CommandExt; let _ = std::process::Command::new("/bin/true").exec();'
    ),
    "becomes-its-listing": _called(
        "use std::os::unix::process::CommandExt; "
        'let _ = std::process::Command::new(std::env::current_exe().unwrap()).arg("--list").exec();'
    ),
}
"""Wrong products whose tests don't pass, whatever others in the same trial do."""

FORGED: dict[str, Files] = {
    "writes-frames": _called(_written(3, _FRAMES)),
    "replaces-its-program": _called(
        "let program = std::env::current_exe().unwrap(); std::fs::remove_file(&program).unwrap(); "
        'std::fs::write(&program, "#!/bin/sh\\nread word; '
        'echo \\"$word {\\\\\\"t\\\\\\": \\\\\\"done\\\\\\"}\\" >&3\\n").unwrap(); '
        "std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();"
    ),
}
"""Wrong products that tamper with what tells results; a trial with one of them is tampered with."""

KILLS: dict[str, Files] = {
    "kills-everything": _called('std::process::Command::new("/bin/sh").args(["-c", "kill -9 -1"]).status().unwrap();'),
    "exits-before-main": {
        PRICES: f'{BASE}\nextern "C" fn early() {{ print!("{_OUTPUT}"); {_EXIT} }}\n'
        '#[used]\n#[link_section = ".init_array"]\nstatic EARLY: extern "C" fn() = early;\n'
    },
}
"""Wrong products that end more than their own test: a trial each."""

SCREENED: Files = {
    "build.rs": 'fn main() { println!("cargo:rustc-cfg=never"); }\n',
    "Cargo.toml": MANIFEST.replace('"1.0.0"', '"1.0.1"'),
    "Cargo.lock": "version = 3\n",
    "rust-toolchain.toml": '[toolchain]\nchannel = "nightly"\n',
    ".cargo/config.toml": '[build]\nrustc-wrapper = "true"\n',
    "tests/late.rs": "#[test]\nfn late() {}\n",
    "tests/common/mod.rs": "pub fn price() {}\n",
    "target/debug/deps/prices": "x\n",
}
"""Files that do not reach the tests."""

FORGERIES: dict[str, Files] = {
    "reads-the-hidden-test": {
        PRICES: BASE.replace(
            "{ given(cents) }",
            f"""{{
    let source = std::fs::read_to_string("{TEST}").unwrap();
    let call = format!("price({{cents}}, {{_off}}), ");
    let told = source.split(&call).nth(1).unwrap();
    told.split(')').next().unwrap().parse().unwrap_or(given(cents))
}}""",
        )
    },
}
"""What gets through where a task is judged inside, and is told by that word alone."""

HONEST: dict[str, Files] = {
    "with-another-module": {
        PRICES: RIGHT.replace("cents * off / 100", "shares::of(cents, off)") + "\nmod shares;\n",
        "src/money/shares.rs": "pub fn of(cents: i64, off: i64) -> i64 { cents * off / 100 }\n",
    },
    "with-its-own-tests": {
        PRICES: f"{RIGHT}\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn own() {{ super::price(1, 1); }}\n}}\n",
        "tests/more_money.rs": "broken\n",
    },
    "with-threads-that-stay": {PRICES: RIGHT.replace("{ cents }", "{ std::thread::spawn(|| loop {}); cents }")},
    "that-prints": {
        PRICES: RIGHT.replace("{ cents }", '{ println!("test price ... FAILED"); eprintln!("{cents}"); cents }')
    },
    "that-catches": {
        PRICES: RIGHT.replace("{ cents }", '{ let _ = std::panic::catch_unwind(|| panic!("no price")); cents }')
    },
    "that-starts-programs": {
        PRICES: RIGHT.replace(
            "{ cents }",
            '{ let ran = std::process::Command::new("/bin/echo").arg("1").output().unwrap(); '
            'assert_eq!(ran.stdout, b"1\\n"); cents }',
        )
    },
}
"""Right patches that differ from the fix."""

MODULES = tuple(map(module_of, (*ENDS, *FORGED, *KILLS, *FORGERIES, *HONEST)))
"""Names of the modules that stand beside `money`."""
_LABEL = "/// Writes euros.\npub fn label(cents: i64) -> String {{ {} }}\n"
_INLINE = """
#[cfg(test)]
mod tests {{
    use super::label;

    #[test]
    fn cents() {{ assert!(label(7).contains('7')); }}
{}}}
"""
_NEW = '\n    #[test]\n    fn euros() { assert_eq!(label(3107), "31.07 EUR"); }\n'
_DECLARED = "".join(f"pub mod {name};\n" for name in ("money", *MODULES)) + "\n"
LIB_BASE = _DECLARED + _LABEL.format("cents.to_string()") + _INLINE.format("")
LIB_RIGHT = LIB_BASE.replace("cents.to_string()", 'format!("{}.{:02} EUR", cents / 100, cents % 100)')
LIB_AFTER = LIB_RIGHT.replace(_INLINE.format(""), _INLINE.format(_NEW))
LIB_OTHER = LIB_RIGHT.replace(
    _INLINE.format(""),
    _INLINE.format("\n    #[test]\n    fn euros() { broken }\n").replace(
        "    use super::label;\n", "    use super::*;\n"
    ),
).replace("/// Writes euros.\n", "/// Writes cents as euros.\n#[must_use]\n")
"""A right library with tests of its own in the place of the hidden ones."""


def tests(*, fixed: bool) -> str:
    """The tests of all modules, with those of the fix or without."""
    bodies = ((_STAYS + _TURNED * fixed).replace("%s", name) for name in ("money", *MODULES))
    return "".join(f"mod {name} {{\n{body}}}\n" for name, body in zip(("money", *MODULES), bodies, strict=True))
