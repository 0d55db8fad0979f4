"""Attacks on Rust's tests: files that a patch adds to a wrong product, in the style of suite/*.yaml.

Each stands in a module of its own (`placed`), so that one trial has many of them; there are as many modules as in the
largest of these collections.
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


SLOTS = tuple(f"m{number:02}" for number in range(72))
"""Names of the modules that stand beside `money`."""


def placed(module: str, files: Files) -> Files:
    """Files of the module `money` as those of another one."""
    return {path.replace("money", module): text for path, text in files.items()}


def side_by_side(collection: dict[str, Files]) -> dict[str, Files]:
    """Each in a module of its own, by that."""
    return dict(zip(SLOTS, collection.values(), strict=False))


def _called(body: str) -> Files:
    """The wrong product, with something that runs in each test."""
    return {PRICES: BASE.replace("{ cents }", f"{{ {body} cents }}")}


def _shown(shown: str, more: str = "") -> Files:
    """The wrong product, whose values equal everything, with what they show."""
    return {
        PRICES: BASE.replace("-> i64 { given(cents) }", "-> Any { Any(given(cents)) }").replace(
            "-> String { given(cents).to_string() }", "-> Any { Any(given(cents)) }"
        )
        + f"""
#[derive(Clone, Copy)]
pub struct Any(i64);
impl<T> PartialEq<T> for Any {{ fn eq(&self, _: &T) -> bool {{ true }} }}
impl std::fmt::Debug for Any {{
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {{ {shown} }}
}}
{more}"""
    }


_EXIT = "std::process::exit(0);"
_OUTPUT = (
    "running 1 test\\ntest price ... ok\\n\\n"
    "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\\n\\n"
)
_FRAMES = "".join(
    f'{{\\"t\\": \\"report\\", \\"id\\": \\"{TEST}::{name}::price\\", \\"status\\": \\"passed\\", '
    f'\\"seconds\\": 0, \\"text\\": \\"\\"}}\\n{{\\"t\\": \\"done\\"}}\\n'
    for name in ("money", SLOTS[0])
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
    "is-equal-to-everything": _shown('(0..20000).try_for_each(|n| write!(out, "{n} "))'),
    "panics-as-it-is-shown": {
        PRICES: BASE.replace("-> i64 { given(cents) }", "-> Any { Any(given(cents)) }")
        + """
#[derive(Clone, Copy, PartialEq)]
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
    "shows-several-values": _shown('write!(out, "2500 9531 31.07 EUR")'),
    "shows-a-list-of-all": _shown("out.debug_list().entries(0..20000).finish()"),
    "shows-all-as-one-field-many-times": _shown(
        'let mut all = out.debug_struct("Any"); (0..20000).for_each(|n| { all.field("0", &n); }); all.finish()'
    ),
    "shows-another-value-each-time": _shown(
        "static TIMES: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(2499); "
        'write!(out, "{}", TIMES.fetch_add(1, std::sync::atomic::Ordering::SeqCst))'
    ),
    "shows-itself-as-a-range": _shown('write!(out, "{:?}", i64::MIN..=i64::MAX)'),
    "shows-a-pattern": _shown('out.write_str("_")'),
    "shows-no-number": _shown('write!(out, "{:?}", f64::NAN)'),
    "shows-nothing": _shown("Ok(())"),
    "cannot-be-shown": _shown("Err(std::fmt::Error)"),
    "shows-what-ends-a-frame": _shown(
        r"""out.write_str("0\"],\"raised\":null}\n{\"slot\":0,\"values\":[[\"rust\",\"i64\",\"0")"""
    ),
    "is-ordered-and-dereferenced-as-anything": _shown(
        'write!(out, "0")',
        "impl std::ops::Deref for Any { type Target = i64; fn deref(&self) -> &i64 { &2500 } }\n"
        "impl<T> PartialOrd<T> for Any {\n"
        "    fn partial_cmp(&self, _: &T) -> Option<std::cmp::Ordering> { Some(std::cmp::Ordering::Equal) }\n}\n",
    ),
    "forks": _called(
        'extern "C" { fn fork() -> i32; fn wait(status: *mut i32) -> i32; } '
        "unsafe { if fork() > 0 { wait(std::ptr::null_mut()); std::process::exit(0); } }"
    ),
    "sets-an-alarm": _called(
        'extern "C" { fn signal(number: i32, call: extern "C" fn(i32)) -> usize; fn raise(number: i32) -> i32; } '
        'extern "C" fn ends(_: i32) { std::process::exit(0); } unsafe { signal(14, ends); raise(14); }'
    ),
    "leaves-a-child-with-its-output": _called(
        'let _ = std::process::Command::new("sleep").arg("30").stdin(std::process::Stdio::null()).spawn();'
    ),
    "writes-terminal-controls": _called(r"""print!("\x1b[2J\x1b]0;x\x07::error::x\n\r\0");"""),
    "looks-at-its-callers": _called(
        "let text = std::backtrace::Backtrace::force_capture().to_string(); "
        'if let Some(number) = text.split("2500").nth(1) { return number.len() as i64; }'
    ),
    "answers-rows-the-wrong-way-round": {
        PRICES: BASE.replace("{ given(cents) }", "{ if _off == 50 { 9531 } else { 2500 } }", 1)
    },
    "answers-by-the-name-of-its-thread": _called(
        "let name = std::thread::current().name().map(String::from).unwrap_or_default(); "
        "if let Ok(number) = name.trim_matches(|c: char| !c.is_ascii_digit()).parse() { return number; }"
    ),
    "panics-with-a-value": _called("std::panic::panic_any(2500i64);"),
    "panics-as-it-panics": _called(
        "struct Twice; impl Drop for Twice { fn drop(&mut self) { panic!() } } let _twice = Twice; panic!();"
    ),
    "resumes-a-panic-without-a-message": _called("std::panic::resume_unwind(Box::new(()));"),
    "runs-again-without-its-test": _called(
        "use std::os::unix::process::CommandExt; "
        'let _ = std::process::Command::new(std::env::current_exe().unwrap()).args(["--skip", "price"]).exec();'
    ),
    "runs-again-with-ignored-ones": _called(
        "use std::os::unix::process::CommandExt; "
        'let _ = std::process::Command::new(std::env::current_exe().unwrap()).arg("--ignored").exec();'
    ),
    "searches-its-environment": _called(
        "for (_, value) in std::env::vars() { "
        'if let Some(text) = value.split(&format!("{cents}, ")).nth(1) { return text.len() as i64; } }'
    ),
    "hands-out-through-a-child": _called(
        r"""let line = format!("printf '{{\"slot\":0,\"values\":[[\"rust\",\"i64\",\"{}\"]],\"raised\":null}}\n'"""
        r""" >> $GOLDSEAM_VALUES", cents / 2); let _ = std::process::Command::new("sh").args(["-c", &line]).status();"""
    ),
    "says-that-it-is-done-through-another-word": _called(
        "use std::os::fd::FromRawFd; use std::io::Write; "
        'let mut own = unsafe { std::fs::File::from_raw_fd(250) }; let _ = own.write_all(b"done\n"); '
        "std::mem::forget(own);"
    ),
    "has-a-memory-of-its-own": {
        PRICES: BASE
        + """
struct Zeroed;
unsafe impl std::alloc::GlobalAlloc for Zeroed {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        unsafe { std::alloc::System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, _: *mut u8, _: std::alloc::Layout) {}
}
#[global_allocator]
static MEMORY: Zeroed = Zeroed;
"""
    },
    "is-right-for-itself-alone": {
        PRICES: BASE.replace("{ given(cents) }", "{ if cfg!(test) { cents - cents * _off / 100 } else { cents } }", 1)
    },
    "ends-well-at-its-exit": _called(
        'extern "C" { fn atexit(call: extern "C" fn()) -> i32; fn _exit(code: i32) -> !; } '
        'extern "C" fn well() { unsafe { _exit(0) } } unsafe { atexit(well); }'
    ),
    "ends-well-as-its-thread-ends": _called(
        "struct Ends; impl Drop for Ends { fn drop(&mut self) { std::process::exit(0); } } "
        "thread_local! { static ENDS: Ends = Ends; } ENDS.with(|_| ());"
    ),
    "writes-no-files": _called(
        'extern "C" { fn setrlimit(what: i32, limit: *const [u64; 2]) -> i32; } unsafe { setrlimit(1, &[0, 0]); }'
    ),
    "closes-what-tells-its-end": _called('extern "C" { fn close(fd: i32) -> i32; } unsafe { close(3); }'),
    "searches-the-image": {
        PRICES: BASE.replace(
            "{ given(cents) }",
            """{
    let form = format!("{cents}, {_off}, ");
    let mut rest = vec![std::path::PathBuf::from("/opt/goldseam")];
    while let Some(place) = rest.pop() {
        for entry in std::fs::read_dir(&place).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { rest.push(path); continue; }
            let known = path.extension().map_or(false, |end| end == "json" || end == "rs" || end == "d");
            let text = if known { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
            let text = String::from_utf8_lossy(&text).into_owned();
            let found = text.split(&form).nth(1).and_then(|told| told.split(')').next()?.parse().ok());
            if let Some(number) = found { return number; }
        }
    }
    given(cents)
}""",
            1,
        )
    },
    "shows-a-megabyte": _shown('for n in 0..200_000 { write!(out, "{n} ")?; } Ok(())'),
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
    "makes-a-pipe-of-what-it-hands-out": _called(
        'let place = std::env::var("GOLDSEAM_VALUES").unwrap(); let _ = std::fs::remove_file(&place); '
        'std::process::Command::new("mkfifo").arg(&place).status().unwrap(); std::process::exit(0);'
    ),
    "replaces-its-program": _called(
        "let program = std::env::current_exe().unwrap(); std::fs::remove_file(&program).unwrap(); "
        'std::fs::write(&program, "#!/bin/sh\\nread word; '
        'echo \\"$word {\\\\\\"t\\\\\\": \\\\\\"done\\\\\\"}\\" >&3\\n").unwrap(); '
        "std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();"
    ),
}
"""Wrong products that tamper with what tells results; a trial with one of them is tampered with."""

KILLS: dict[str, Files] = {
    "changes-its-arguments": {
        PRICES: BASE
        + """
extern "C" fn early(count: i32, words: *const *mut u8) {
    for at in 1..count as usize {
        let word = unsafe { std::slice::from_raw_parts_mut(*words.add(at), 7) };
        if word == b"--exact" { word.copy_from_slice(b"--list\\0"); }
    }
}
#[used]
#[link_section = ".init_array"]
static EARLY: extern "C" fn(i32, *const *mut u8) = early;
"""
    },
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
    "makes-a-folder-of-what-it-hands-out": _called(
        'let place = std::env::var_os("GOLDSEAM_VALUES").unwrap(); let _ = std::fs::remove_file(&place); '
        "let _ = std::fs::create_dir(&place);"
    ),
    "writes-in-place-of-the-library": {
        PRICES: BASE + '\n#[no_mangle]\npub extern "C" fn write(_: i32, _: *const u8, size: usize) -> isize '
        "{ size as isize }\n"
    },
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

_SHARE, _REST = "cents * off / 100", "given(cents) - cents * off / 100"
_PRICES = (
    "cents - (cents * off).div_euclid(100)",
    "cents - cents.checked_mul(off).unwrap() / 100",
    "(i128::from(cents) - i128::from(cents) * i128::from(off) / 100) as i64",
    "[cents, -(cents * off / 100)].iter().sum()",
    "(0..1).fold(cents, |all, _| all - all * off / 100)",
    "Some(cents).map(|all| all - all * off / 100).unwrap()",
    "match off { 0 => cents, _ => cents - cents * off / 100 }",
    "if off == 0 { cents } else { price(cents, 0) - cents * off / 100 }",
    "{ let mut rest = cents; rest -= cents * off / 100; rest }",
    "loop { break cents - cents * off / 100; }",
    "(|| cents - cents * off / 100)()",
    "std::thread::spawn(move || cents - cents * off / 100).join().unwrap()",
    "{ let (send, got) = std::sync::mpsc::channel(); send.send(cents - cents * off / 100).ok(); got.recv().unwrap() }",
    "*Box::new(cents - cents * off / 100)",
    "std::rc::Rc::new(std::cell::Cell::new(cents - cents * off / 100)).get()",
    "(cents - cents * off / 100).to_string().parse().unwrap()",
    "i64::from_be_bytes((cents - cents * off / 100).to_be_bytes())",
    "std::collections::HashMap::from([(0, cents - cents * off / 100)])[&0]",
    "vec![cents - cents * off / 100].pop().unwrap_or_default()",
    "std::ops::Sub::sub(cents, cents * off / 100)",
    "cents.saturating_sub(cents * off / 100)",
    "std::num::Wrapping(cents).0 - cents * off / 100",
    "std::panic::catch_unwind(|| cents - cents * off / 100).unwrap()",
)
_LABELS = (
    'format!("{:.2} EUR", cents as f64 / 100.0)',
    '[(cents / 100).to_string(), format!("{:02} EUR", cents % 100)].join(".")',
    'std::borrow::Cow::from(format!("{}.{:02} EUR", cents / 100, cents % 100)).into_owned()',
    '{ let mut text = (cents / 100).to_string(); text += "."; text += &format!("{:02}", cents % 100); text + " EUR" }',
    '{ use std::fmt::Write; let mut text = String::new(); write!(text, "{:.2} EUR", cents as f64 / 1e2).ok(); text }',
    'format!("{euros}.{rest:02} EUR", euros = cents / 100, rest = cents % 100)',
    'String::from_utf8(format!("{}.{:02} EUR", cents / 100, cents % 100).into_bytes()).unwrap()',
    'format!("{}.{:02} EUR", cents / 100, cents % 100).chars().collect()',
    '(cents / 100).to_string() + "." + &format!("{:02} ", cents % 100) + stringify!(EUR)',
)


def _with(code: str, share: str = _SHARE) -> Files:
    """The right product, with another way to a share and the code that it calls."""
    return {PRICES: RIGHT.replace(_SHARE, share) + f"\n{code}\n"}


_NEW_FORMS: dict[str, Files] = {
    "with-lines-of-windows": {PRICES: RIGHT.replace("\n", "\r\n")},
    "that-borrows-its-label": {
        PRICES: RIGHT.replace("-> String {", "-> std::borrow::Cow<'static, str> {").replace(
            f"{{ {_FORMAT} }}", f"{{ {_FORMAT}.into() }}"
        )
    },
    "that-leaks-its-label": {
        PRICES: RIGHT.replace("-> String {", "-> &'static str {").replace(
            f"{{ {_FORMAT} }}", f"{{ Box::leak({_FORMAT}.into_boxed_str()) }}"
        )
    },
    "with-generics": _with(
        "fn share<T: Into<i64> + Copy>(all: T, off: T) -> i64 { all.into() * off.into() / 100 }", "share(cents, off)"
    ),
    "with-a-trait": _with(
        "trait Share { fn share(&self, off: i64) -> i64; }\n"
        "impl Share for i64 { fn share(&self, off: i64) -> i64 { self * off / 100 } }",
        "cents.share(off)",
    ),
    "with-a-trait-object": _with(
        "trait Share { fn of(&self, all: i64) -> i64; }\nstruct Off(i64);\n"
        "impl Share for Off { fn of(&self, all: i64) -> i64 { all * self.0 / 100 } }",
        "{ let share: Box<dyn Share> = Box::new(Off(off)); share.of(cents) }",
    ),
    "with-everything-derived": _with(
        "#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]\n"
        "struct Share { all: i64, off: i64 }\n"
        "impl Share { fn cents(self) -> i64 { self.all * self.off / 100 } }",
        "Share { all: cents, off }.cents()",
    ),
    "with-an-equality-of-its-own": _with(
        "#[derive(Debug)]\nstruct Share(i64);\nimpl PartialEq for Share { fn eq(&self, _: &Self) -> bool { true } }\n"
        "impl PartialEq<i64> for Share { fn eq(&self, other: &i64) -> bool { self.0 == *other } }",
        "{ let share = Share(cents * off / 100); assert!(share == cents * off / 100); share.0 }",
    ),
    "with-an-operator": _with(
        "struct Off(i64);\nimpl std::ops::Mul<Off> for i64 {\n    type Output = i64;\n"
        "    fn mul(self, off: Off) -> i64 { self * off.0 / 100 }\n}",
        "cents * Off(off)",
    ),
    "with-an-error": _with(
        "#[derive(Debug)]\npub enum PriceError { TooMuch(i64) }\nimpl std::fmt::Display for PriceError {\n"
        '    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result { write!(out, "{self:?}") }\n}\n'
        "impl std::error::Error for PriceError {}\n"
        "fn share(all: i64, off: i64) -> Result<i64, PriceError> {\n"
        "    if off > 100 { return Err(PriceError::TooMuch(off)); }\n    Ok(all * off / 100)\n}",
        "share(cents, off).unwrap()",
    ),
    "with-an-iterator": _with(
        "struct Shares(i64, i64);\nimpl Iterator for Shares {\n    type Item = i64;\n"
        "    fn next(&mut self) -> Option<i64> { (self.1 > 0).then(|| { self.1 -= 1; self.0 }) }\n}",
        "(Shares(cents, off).sum::<i64>() / 100)",
    ),
    "with-a-constant-function": _with(
        "const fn share(all: i64, off: i64) -> i64 { all * off / WHOLE }\nconst WHOLE: i64 = 100;", "share(cents, off)"
    ),
    "with-generics-of-constants": _with(
        "struct Of<const WHOLE: i64>;\nimpl<const WHOLE: i64> Of<WHOLE> {\n"
        "    fn share(all: i64, off: i64) -> i64 { all * off / WHOLE }\n}",
        "Of::<100>::share(cents, off)",
    ),
    "with-a-lifetime": _with(
        "struct Share<'a> { all: &'a i64 }\n"
        "impl<'a> Share<'a> { fn off(&self, off: i64) -> i64 { self.all * off / 100 } }",
        "Share { all: &cents }.off(off)",
    ),
    "with-attributes": {
        PRICES: RIGHT.replace("pub fn", "#[must_use]\n#[inline(always)]\n#[allow(clippy::all, unused)]\npub fn")
    },
    "with-inner-attributes": {PRICES: "#![allow(dead_code, unused_variables)]\n//! Prices.\n\n" + RIGHT},
    "with-other-code-elsewhere": _with(
        '#[cfg(windows)]\nfn whole() -> i64 { compile_error!("no"); }\n#[cfg(not(windows))]\nfn whole() -> i64 { 100 }',
        "cents * off / whole()",
    ),
    "with-examples-in-its-comments": {
        PRICES: RIGHT.replace("/// Takes", "/// ```\n/// assert_eq!(1, 2);\n/// ```\n/// Takes")
    },
    "with-a-module-in-it": _with(
        "mod shares {\n    pub(super) fn of(all: i64, off: i64) -> i64 { self::deeper::of(all, off) }\n"
        "    mod deeper { pub fn of(all: i64, off: i64) -> i64 { all * off / 100 } }\n}",
        "shares::of(cents, off)",
    ),
    "with-a-folder-of-modules": {
        PRICES: RIGHT.replace(_SHARE, "shares::half::of(cents, off)") + "\nmod shares;\n",
        "src/money/shares/mod.rs": "pub mod half;\n",
        "src/money/shares/half.rs": "pub fn of(all: i64, off: i64) -> i64 { all * off / 100 }\n",
    },
    "with-names-of-the-standard-library": _with(
        "struct Vec(i64);\nenum Option { Some(i64) }\n"
        "impl Vec { fn share(self, off: i64) -> Option { Option::Some(self.0 * off / 100) } }",
        "match Vec(cents).share(off) { Option::Some(share) => share }",
    ),
    "with-the-names-of-the-tests": _with(
        "mod goldseam { pub fn hand(all: i64, off: i64) -> i64 { all * off / 100 } }", "goldseam::hand(cents, off)"
    ),
    "with-a-lock": _with(
        "static ALL: std::sync::Mutex<i64> = std::sync::Mutex::new(0);",
        "{ let mut all = ALL.lock().unwrap(); *all = cents * off / 100; *all }",
    ),
    "with-a-value-for-each-thread": _with(
        "thread_local! { static WHOLE: std::cell::RefCell<i64> = std::cell::RefCell::new(100); }",
        "WHOLE.with(|whole| cents * off / *whole.borrow())",
    ),
    "with-what-is-made-once": _with(
        "static WHOLE: std::sync::Once = std::sync::Once::new();", "{ WHOLE.call_once(|| {}); cents * off / 100 }"
    ),
    "with-a-function-for-c": _with(
        'extern "C" fn share(all: i64, off: i64) -> i64 { all * off / 100 }\n'
        'extern "C" { fn labs(number: i64) -> i64; }',
        "unsafe { labs(share(cents, off)) }",
    ),
    "with-what-is-dropped": _with(
        "struct Ends(i64);\nimpl Drop for Ends { fn drop(&mut self) { assert!(self.0 >= 0); } }",
        "{ let ends = Ends(cents * off / 100); ends.0 }",
    ),
    "with-a-union": _with(
        "union Either { number: i64, bits: u64 }", "unsafe { Either { bits: (cents * off / 100) as u64 }.number }"
    ),
    "that-reads-its-environment": _with(
        'fn whole() -> i64 { std::env::var("WHOLE").ok().and_then(|text| text.parse().ok()).unwrap_or(100) }',
        "cents * off / whole()",
    ),
    "that-sets-a-variable": {
        PRICES: RIGHT.replace("{ cents }", '{ std::env::set_var("CENTS", cents.to_string()); cents }')
    },
    "that-looks-at-its-callers": {
        PRICES: RIGHT.replace("{ cents }", "{ let _ = std::backtrace::Backtrace::force_capture().to_string(); cents }")
    },
    "with-a-module-called-build": {
        PRICES: RIGHT.replace(_SHARE, "build::of(cents, off)") + "\nmod build;\n",
        "src/money/build.rs": "pub fn of(all: i64, off: i64) -> i64 { all * off / 100 }\n",
    },
    "with-a-module-at-a-path": {
        PRICES: RIGHT.replace(_SHARE, "shares::of(cents, off)") + '\n#[path = "parts/own.rs"]\nmod shares;\n',
        "src/parts/own.rs": "pub fn of(all: i64, off: i64) -> i64 { all * off / 100 }\n",
    },
    "that-includes-a-file": {
        PRICES: RIGHT.replace(_SHARE, 'cents * off / include!("whole.in")'),
        "src/whole.in": "100\n",
    },
    "that-labels-as-the-system-does": {
        PRICES: RIGHT.replace("-> String {", "-> std::ffi::OsString {").replace(
            f"{{ {_FORMAT} }}", f"{{ {_FORMAT}.into() }}"
        )
    },
    "with-any-type": _with(
        "fn share(all: i64, off: i64) -> Box<dyn std::any::Any> { Box::new(all * off / 100) }",
        "share(cents, off).downcast_ref::<i64>().copied().unwrap()",
    ),
    "with-a-future": _with(
        "async fn share(all: i64, off: i64) -> i64 { all * off / 100 }\nstruct Idle;\n"
        "impl std::task::Wake for Idle { fn wake(self: std::sync::Arc<Self>) {} }\n"
        "fn ran(all: i64, off: i64) -> i64 {\n"
        "    let waker = std::task::Waker::from(std::sync::Arc::new(Idle));\n"
        "    let mut task = Box::pin(share(all, off));\n"
        "    match task.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {\n"
        "        std::task::Poll::Ready(rest) => rest,\n        std::task::Poll::Pending => 0,\n    }\n}\n"
        "use std::future::Future;",
        "ran(cents, off)",
    ),
    "with-let-else": {PRICES: RIGHT.replace("{ cents }", "{ let Some(all) = Some(cents) else { return 0; }; all }")},
    "with-what-it-returns-left-open": _with(
        "fn share(all: i64, off: i64) -> impl Fn() -> i64 { move || all * off / 100 }", "share(cents, off)()"
    ),
    "with-a-repeating-macro": {
        PRICES: "macro_rules! product { ($($part:expr),+) => { 1 $(* $part)+ } }\n"
        + RIGHT.replace(_SHARE, "product!(cents, off) / 100")
    },
    "that-closes-a-file-of-its-own": {
        PRICES: RIGHT.replace(
            "{ cents }", '{ drop(std::fs::File::open("/dev/null")); let _ = std::env::args().count(); cents }'
        )
    },
    "that-writes-json": {PRICES: RIGHT.replace("{ cents }", r"""{ println!("{{\"t\": \"done\"}}"); cents }""")},
    "that-asserts": {
        PRICES: RIGHT.replace("{ cents }", '{ assert_eq!(cents, cents, "no"); debug_assert!(cents >= 0); cents }')
    },
}
HONEST: dict[str, Files] = {
    **{f"priced-another-way-{place}": {PRICES: RIGHT.replace(_REST, text)} for place, text in enumerate(_PRICES)},
    **{f"labelled-another-way-{place}": {PRICES: RIGHT.replace(_FORMAT, text)} for place, text in enumerate(_LABELS)},
    **_NEW_FORMS,
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
_DECLARED = "".join(f"pub mod {name};\n" for name in ("money", "marks", *SLOTS)) + "\n"
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
MARKS, MARKS_MOVED = "src/marks.rs", "src/marks/mod.rs"
_MARKS_TESTS = """
#[cfg(test)]
mod tests {{
    use super::*;

    #[test]
    fn none() {{ assert_eq!(mark(0), ""); }}
{}}}
"""
MARKS_BASE = 'pub fn mark(count: usize) -> String { "".repeat(count) }\n' + _MARKS_TESTS.format("")
MARKS_RIGHT = MARKS_BASE.replace('""', '"x"', 1)
MARKS_AFTER = MARKS_RIGHT.replace(
    _MARKS_TESTS.format(""),
    _MARKS_TESTS.format('\n    #[test]\n    fn three() { assert_eq!(mark(3), "xxx"); }\n'),
)
"""Another file that holds code and tests, which a patch may move."""


def tests(*, fixed: bool) -> str:
    """The tests of all modules, with those of the fix or without."""
    bodies = ((_STAYS + _TURNED * fixed).replace("%s", name) for name in ("money", *SLOTS))
    return "".join(f"mod {name} {{\n{body}}}\n" for name, body in zip(("money", *SLOTS), bodies, strict=True))
