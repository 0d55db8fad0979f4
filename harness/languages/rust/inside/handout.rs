// What stripped tests call: a module of each stripped file, laid by driver.py. A stripped assertion is
// `{ use self::goldseam::{Hidden as _, Shown as _}; self::goldseam::hand(SLOT, &[(&self::goldseam::Of(&(OPERAND))).told_goldseam()], None) }`:
// what is expected stays on the host, which compares. The test goes on, whatever comes out.
#![allow(warnings)]

extern crate std as goldseam_std;

use self::goldseam_std::any::type_name;
use self::goldseam_std::cell::Cell;
use self::goldseam_std::fmt::{Debug, Error, Write as _};
use self::goldseam_std::io::Write as _;
pub use self::goldseam_std::option::Option::Some;
use self::goldseam_std::panic::{catch_unwind, AssertUnwindSafe};
use self::goldseam_std::string::String;
use self::goldseam_std::sync::atomic::{AtomicUsize, Ordering};

const LETTERS: usize = 1 << 18;
const EVENTS: usize = 20000;
/// Of one assertion: it is not judged on the host then, and one more says so.
const TIMES: usize = 5000;
const NEVER: AtomicUsize = AtomicUsize::new(0);
static TIMES_HANDED: [AtomicUsize; 1 << 12] = [NEVER; 1 << 12];
/// Of first operands, so that what is expected beside them counts nothing: as much is told with it as without.
const LETTERS_IN_ALL: usize = 1 << 21;
static HANDED: AtomicUsize = AtomicUsize::new(0);
static TOLD: AtomicUsize = AtomicUsize::new(0);
goldseam_std::thread_local! { static IS_OTHER: Cell<bool> = Cell::new(false) }

/// What is handed out, by what it is: `told_goldseam` is that of `Shown` where it can be shown, else that of `Hidden`.
pub struct Of<'a, T: ?Sized + 'a>(pub &'a T);

pub trait Shown {
    fn told_goldseam(&self) -> String;
}

impl<'a, T: Debug + ?Sized> Shown for Of<'a, T> {
    fn told_goldseam(&self) -> String {
        let mut text = Limited(String::new());
        let is_other = IS_OTHER.with(|is_other| is_other.replace(false));
        let shown = catch_unwind(AssertUnwindSafe(|| goldseam_std::write!(text, "{:?}", self.0)));
        let is_shown = if let Ok(Ok(())) = shown { !is_other } else { false };
        value(type_name::<T>(), if is_shown { Some(&text.0) } else { None })
    }
}

pub trait Hidden {
    fn told_goldseam(&self) -> String;
}

impl<'a, 'b, T: ?Sized> Hidden for &'b Of<'a, T> {
    fn told_goldseam(&self) -> String {
        IS_OTHER.with(|is_other| is_other.set(false));
        value(type_name::<T>(), None)
    }
}

/// What is compared by `==`, which its type has to have; what does not equal itself is not shown, but for NaN.
pub fn same<T: goldseam_std::cmp::PartialEq + ?Sized>(value: &T) -> &T {
    let is_float = ["f32", "f64"].contains(&type_name::<T>().trim_start_matches('&'));
    IS_OTHER.with(|is_other| is_other.set(!is_float && !(*value == *value)));
    value
}

/// One side of what is compared, which is not shown where its type denies that it holds.
pub fn held<T: ?Sized>(value: &T, holds: bool) -> &T {
    IS_OTHER.with(|is_other| is_other.set(!holds));
    value
}

struct Limited(String);

impl goldseam_std::fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> Result<(), Error> {
        if self.0.len() + text.len() > LETTERS {
            return Err(Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// Hands out operands, and what came of comparing them where the product does that.
pub fn hand(slot: u32, values: &[String], holds: Option<bool>) {
    tell(slot, values, holds, "null");
}

/// Hands out what a test that is to panic says as it does.
pub fn panics<R>(slot: u32, body: impl FnOnce() -> R, kept: &[String]) {
    let raised = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(_) => String::from("null"),
        Err(error) => match (error.downcast_ref::<&str>(), error.downcast_ref::<String>()) {
            (Some(text), _) => value("!", Some(text)),
            (_, Some(text)) => value("!", Some(text)),
            _ => value("!", None),
        },
    };
    tell(slot, kept, None, &raised);
}

fn tell(slot: u32, values: &[String], holds: Option<bool>, raised: &str) {
    let times = TIMES_HANDED[slot as usize % TIMES_HANDED.len()].fetch_add(1, Ordering::Relaxed);
    let letters = values.first().map_or(0, |first| first.len());
    if times > TIMES
        || HANDED.fetch_add(1, Ordering::Relaxed) >= EVENTS
        || TOLD.fetch_add(letters, Ordering::Relaxed) >= LETTERS_IN_ALL
    {
        return;
    }
    let mut line = goldseam_std::format!("{{\"slot\":{},\"values\":[{}", slot, values.join(","));
    if let Some(holds) = holds {
        line.push_str(if values.is_empty() { "" } else { "," });
        line.push_str(if holds { "true" } else { "false" });
    }
    line.push_str("],\"raised\":");
    line.push_str(raised);
    line.push_str("}\n");
    if let Some(path) = goldseam_std::env::var_os("GOLDSEAM_VALUES") {
        if let Ok(mut file) = goldseam_std::fs::OpenOptions::new().append(true).open(path) {
            let _ = file.write_all(line.as_bytes());
        }
    }
}

fn value(kind: &str, text: Option<&str>) -> String {
    let mut line = String::from("[\"rust\",");
    quoted(kind, &mut line);
    line.push(',');
    match text {
        Some(text) => quoted(text, &mut line),
        None => line.push_str("null"),
    }
    line.push(']');
    line
}

fn quoted(text: &str, line: &mut String) {
    line.push('"');
    for letter in text.chars() {
        match letter {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            letter if letter < ' ' => {
                let _ = goldseam_std::write!(line, "\\u{:04x}", letter as u32);
            }
            letter => line.push(letter),
        }
    }
    line.push('"');
}
