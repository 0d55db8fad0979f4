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

/// Writes euros.
pub fn label(cents: i64) -> String {{ given(cents).to_string() }}
"""
_FORMAT = 'format!("{}.{:02} EUR", cents / 100, cents % 100)'
RIGHT = (
    BASE.replace("_off", "off")
    .replace("given(cents) }", "given(cents) - cents * off / 100 }", 1)
    .replace("given(cents).to_string()", _FORMAT)
)
_TURNED = """\
    #[test]
    fn price() {
        let rows = [(5000, 50, 2500), (10590, 10, 9531)];
        for (cents, off, rest) in rows {
            assert_eq!(money::%s::price(cents, off), rest, "{} off", off);
        }
        assert_eq!(money::%s::label(3107), "31.07 EUR");
        assert!(matches!(money::%s::price(5000, 50), 1..=2500), "too much");
    }
"""
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
    "reads-the-hidden-test": {
        PRICES: BASE.replace(
            "{ given(cents) }",
            f"""{{
    let source = std::fs::read_to_string("{TEST}").unwrap();
    let call = format!("({{cents}}, {{_off}}, ");
    let told = source.split(&call).nth(1).unwrap();
    told.split(')').next().unwrap().parse().unwrap_or(given(cents))
}}""",
            1,
        )
    },
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
    "is-equal-to-everything": {
        PRICES: BASE.replace("-> i64 { given(cents) }", "-> Any { Any(given(cents)) }").replace(
            "-> String { given(cents).to_string() }", "-> Any { Any(given(cents)) }"
        )
        + """
#[derive(Clone, Copy)]
pub struct Any(i64);
impl<T> PartialEq<T> for Any { fn eq(&self, _: &T) -> bool { true } }
impl std::fmt::Debug for Any {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        (0..20000).try_for_each(|n| write!(out, "{n} "))
    }
}
"""
    },
    "panics-as-it-is-shown": {
        PRICES: BASE.replace("-> i64 { given(cents) }", "-> Any { Any(given(cents)) }")
        + """
#[derive(Clone, Copy)]
pub struct Any(i64);
impl PartialEq<i64> for Any { fn eq(&self, _: &i64) -> bool { true } }
impl std::fmt::Debug for Any {
    fn fmt(&self, _: &mut std::fmt::Formatter) -> std::fmt::Result { std::process::exit(0) }
}
"""
    },
    "gives-what-it-is-given": _called("if true { return cents; }"),
    "searches-its-own-program": _called(
        'let _ = std::fs::read(std::env::current_exe().unwrap()).map(|all| all.windows(4).any(|part| part == b"2500"));'
    ),
    "reads-the-tests-while-it-is-compiled": {
        PRICES: BASE.replace(
            "{ given(cents) }",
            """{
    let source = include_str!("../tests/prices.rs");
    let call = format!("({cents}, {_off}, ");
    source.split(&call).nth(1).and_then(|told| told.split(')').next()?.parse().ok()).unwrap_or(given(cents))
}""",
            1,
        )
    },
    "reads-its-parents": {
        PRICES: BASE.replace(
            "{ given(cents) }",
            """{
    let told = std::fs::read(format!("/proc/{}/cmdline", std::os::unix::process::parent_id())).unwrap_or_default();
    let call = format!("({cents}, {_off}, ");
    let told = String::from_utf8_lossy(&told).into_owned();
    told.split(&call).nth(1).and_then(|told| told.split(')').next()?.parse().ok()).unwrap_or(given(cents))
}""",
            1,
        )
    },
    "hands-out-itself": _called(
        'use std::io::Write; let place = std::env::var_os("GOLDSEAM_VALUES").unwrap(); '
        "let mut file = std::fs::OpenOptions::new().append(true).open(place).unwrap(); "
        "for slot in 0..9 { writeln!(file, "
        'r#"{{"slot":{slot},"values":[["rust","i64","{}"]],"raised":null}}"#, cents / 2).unwrap(); }'
    ),
    "takes-back-what-is-handed-out": _called(
        'std::thread::spawn(|| loop { std::fs::write(std::env::var_os("GOLDSEAM_VALUES").unwrap(), "").unwrap(); });'
    ),
    "hands-out-elsewhere": _called('std::env::set_var("GOLDSEAM_VALUES", "/tmp/values");'),
    "forgets-where-to-hand-out": _called('std::env::remove_var("GOLDSEAM_VALUES");'),
    "finds-the-runs-word": _called(
        """
    use std::os::unix::fs::FileExt;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let memory = std::fs::File::open("/proc/self/mem").unwrap();
    for line in maps.lines().filter(|line| line.contains(" rw-p ") && line.contains(".so")) {
        let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let (from, to) = (u64::from_str_radix(from, 16).unwrap(), u64::from_str_radix(to, 16).unwrap());
        let mut bytes = vec![0; (to - from) as usize];
        if memory.read_exact_at(&mut bytes, from).is_err() { continue; }
        for part in bytes.windows(32).filter(|part| part.iter().all(u8::is_ascii_hexdigit)) {
            let frame = format!("{} {{\\"t\\": \\"done\\"}}\\n", std::str::from_utf8(part).unwrap());
            extern "C" { fn write(fd: i32, text: *const u8, size: usize) -> isize; }
            unsafe { write(3, frame.as_ptr(), frame.len()); }
            std::process::exit(0);
        }
    }
""".replace("\\\\", "\\")
    ),
    "catches-everything": _called("let _ = std::panic::catch_unwind(|| panic!());"),
    "ends-when-it-is-dropped": _called(
        "struct Ends; impl Drop for Ends { fn drop(&mut self) { std::process::exit(0); } } let _ends = Ends;"
    ),
    "writes-over-the-hand-out": _called(
        'let _ = std::fs::write("/tmp/goldseam_handout.rs", "pub fn hand() {}"); '
        'let _ = std::fs::write("tests/prices.rs", "");'
    ),
    "starts-itself-without-a-recorder": _called(
        """
    if std::env::var_os("AGAIN").is_none() {
        let words: Vec<_> = std::env::args_os().skip(1).collect();
        let again = std::process::Command::new(std::env::current_exe().unwrap()).args(words).env("AGAIN", "1").status();
        std::process::exit(again.unwrap().code().unwrap_or(0) & 0);
    }
"""
    ),
    "shadows-the-macros": {
        PRICES: "#[macro_export] macro_rules! assert_eq { ($($any:tt)*) => { () } }\n#[allow(unused_macros)]\n"
        "macro_rules! vec { ($($any:tt)*) => { Vec::new() } }\n" + BASE
    },
    "has-a-standard-library-of-its-own": {
        PRICES: BASE + "\npub mod std { pub mod fmt { pub trait Debug {} } pub mod env { pub fn var_os() {} } }\n"
        "pub mod goldseam { pub fn hand() {} }\n"
    },
}
"""Wrong products whose tests don't pass, whatever others in the same trial do."""

FORGED: dict[str, Files] = {
    "hands-out-what-no-test-has": _called(
        'std::fs::write(std::env::var_os("GOLDSEAM_VALUES").unwrap(), '
        '"{\\"slot\\":999,\\"values\\":[],\\"raised\\":null}\\n").unwrap();'
    ),
    "hands-out-no-values": _called(
        'std::fs::write(std::env::var_os("GOLDSEAM_VALUES").unwrap(), "passed\\n").unwrap();'
    ),
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
    "compares-memory-alike": {
        PRICES: BASE + '\n#[no_mangle]\npub extern "C" fn memcmp(_: *const u8, _: *const u8, _: usize) -> i32 { 0 }\n'
        '#[no_mangle]\npub extern "C" fn bcmp(_: *const u8, _: *const u8, _: usize) -> i32 { 0 }\n'
    },
    "ends-well-for-libtest": {
        PRICES: BASE + '\n#[no_mangle]\npub extern "C" fn exit(_: i32) -> ! '
        '{ extern "C" { fn _exit(code: i32) -> !; } unsafe { _exit(0) } }\n'
    },
    "is-the-start-of-the-program": {
        PRICES: BASE + '\n#[no_mangle]\npub extern "C" fn __libc_start_main() -> i32 '
        '{ extern "C" { fn _exit(code: i32) -> !; } unsafe { _exit(0) } }\n'
    },
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

HONEST: dict[str, Files] = {
    "with-another-module": {
        PRICES: RIGHT.replace("cents * off / 100", "shares::of(cents, off)") + "\nmod shares;\n",
        "src/money/shares.rs": "pub fn of(cents: i64, off: i64) -> i64 { cents * off / 100 }\n",
    },
    "with-its-own-tests": {
        PRICES: f"{RIGHT}\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn own() {{ super::price(1, 1); }}\n}}\n",
        "tests/more_money.rs": "broken\n",
    },
    "with-threads-that-stay": {
        PRICES: RIGHT.replace("{ cents }", "{ std::thread::spawn(|| loop { std::thread::park() }); cents }")
    },
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
    "in-another-way": {PRICES: RIGHT.replace("given(cents) - cents * off / 100", "given(cents) * (100 - off) / 100")},
    "in-another-type": {
        PRICES: RIGHT.replace("-> i64 { given(cents) -", "-> Cents { given(cents) -").replace(
            "fn given", "pub type Cents = i64;\nfn given"
        )
    },
    "with-a-macro": {
        PRICES: "macro_rules! share { ($cents:expr, $off:expr) => { $cents * $off / 100 } }\n"
        + RIGHT.replace("cents * off / 100", "share!(cents, off)")
    },
    "without-safety": {PRICES: RIGHT.replace("cents * off / 100", "unsafe { *(&cents as *const i64) } * off / 100")},
    "with-a-table": {
        PRICES: "static SHARES: [i64; 101] = { let mut all = [0; 101]; let mut at = 0; "
        "while at < 101 { all[at] = at as i64; at += 1; } all };\n"
        + RIGHT.replace("cents * off / 100", "cents * SHARES[off as usize] / 100")
    },
    "with-a-file": {
        PRICES: RIGHT.replace(
            "{ cents }",
            '{ let place = std::env::temp_dir().join("cents"); '
            "std::fs::write(&place, cents.to_string()).unwrap(); "
            "std::fs::read_to_string(place).unwrap().parse().unwrap() }",
        )
    },
    "with-a-hook": {PRICES: RIGHT.replace("{ cents }", "{ std::panic::set_hook(Box::new(|_| {})); cents }")},
    "with-a-display": {
        PRICES: RIGHT.replace('format!("{}.{:02} EUR", cents / 100, cents % 100)', "Euros(cents).to_string()")
        + "\nstruct Euros(i64);\nimpl std::fmt::Display for Euros {\n"
        "    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {\n"
        '        write!(out, "{}.{:02} EUR", self.0 / 100, self.0 % 100)\n    }\n}\n'
    },
}
"""Right patches that differ from the fix."""

MODULES = tuple(map(module_of, (*ENDS, *FORGED, *KILLS, *HONEST)))
"""Names of the modules that stand beside `money`."""
_LABEL = "/// Writes euros.\npub fn label(cents: i64) -> String {{ {} }}\n"
_INLINE = """
#[cfg(test)]
mod tests {{
    use super::label;

    #[test]
    fn cents() {{ assert!(label(7).contains('7')); }}

    #[test]
    fn marks() {{ assert_eq!(label(7).matches('x').count().try_into(), Ok(0u8)); }}
{}}}
"""
_NEW = '\n    #[test]\n    fn euros() { assert_eq!(label(3107), "31.07 EUR"); }\n'
_DECLARED = "".join(f"pub mod {name};\n" for name in ("money", *MODULES)) + "\n"
LIB_BASE = _DECLARED + _LABEL.format("cents.to_string()") + _INLINE.format("")
LIB_RIGHT = LIB_BASE.replace("cents.to_string()", 'format!("{}.{:02} EUR", cents / 100, cents % 100)')
LIB_SHADOWED = "macro_rules! assert_eq { ($($any:tt)*) => { () } }\nmod std { pub mod fmt {} }\n" + LIB_BASE
"""A wrong library in which the names of hidden tests stand for other things."""
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
