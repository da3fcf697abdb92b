//! Functions whose results differ from run to run; the engine's host has the dice.

use super::{Engine, Fault, Func};
use crate::func;
use crate::template::value::Value;

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[
    func!(engine "getHostByName", get_host_by_name),
    func!(engine "randAlpha", rand_alpha),
    func!(engine "randAlphaNum", rand_alpha_num),
    func!(engine "randAscii", rand_ascii),
    func!(engine "randBytes", rand_bytes),
    func!(engine "randInt", rand_int),
    func!(engine "randNumeric", rand_numeric),
    func!(engine "shuffle", shuffle),
    func!(engine "uuidv4", uuidv4),
];

/// An address of a host, or an empty string; Helm answers only when told to by `--enable-dns`.
///
/// ```tmpl
/// {{ getHostByName "localhost" | kindOf }} → string
/// ```
fn get_host_by_name(engine: &mut dyn Engine, name: &str) -> String {
    engine.host().resolve(name)
}

/// Random letters.
///
/// ```tmpl
/// {{ randAlpha 5 | len }} → 5
/// ```
fn rand_alpha(engine: &mut dyn Engine, count: i64) -> Result<String, Fault> {
    characters(engine, count, |b| b.is_ascii_alphabetic())
}

/// Random letters and digits.
///
/// ```tmpl
/// {{ randAlphaNum 5 | regexMatch "^[0-9A-Za-z]{5}$" }} → true
/// ```
fn rand_alpha_num(engine: &mut dyn Engine, count: i64) -> Result<String, Fault> {
    characters(engine, count, |b| b.is_ascii_alphanumeric())
}

/// Random printable ASCII characters.
///
/// ```tmpl
/// {{ randAscii 5 | len }} → 5
/// ```
fn rand_ascii(engine: &mut dyn Engine, count: i64) -> Result<String, Fault> {
    characters(engine, count, |b| (b' '..=b'~').contains(b))
}

/// Random digits.
///
/// ```tmpl
/// {{ randNumeric 5 | regexMatch "^[0-9]{5}$" }} → true
/// ```
fn rand_numeric(engine: &mut dyn Engine, count: i64) -> Result<String, Fault> {
    characters(engine, count, u8::is_ascii_digit)
}

/// Random characters of a class, each as likely as the others; none for a negative count.
fn characters(engine: &mut dyn Engine, count: i64, class: fn(&u8) -> bool) -> Result<String, Fault> {
    let members: Vec<u8> = (0..=127).filter(class).collect();
    let count = usize::try_from(count).unwrap_or(0);
    engine.spend(count as u64)?;
    let mut out = String::with_capacity(count);
    for _ in 0..count {
        let at = below(engine, members.len() as u64);
        out.extend(members.get(usize::try_from(at).unwrap_or(0)).map(|b| char::from(*b)));
    }
    Ok(out)
}

/// A random number below a bound, evenly distributed.
fn below(engine: &mut dyn Engine, bound: u64) -> u64 {
    let bound = bound.max(1);
    let even = u64::MAX - u64::MAX % bound;
    loop {
        let mut bytes = [0; 8];
        engine.host().random(&mut bytes);
        let number = u64::from_le_bytes(bytes);
        if number < even {
            return number % bound;
        }
    }
}

/// Random bytes in base 64.
///
/// ```tmpl
/// {{ randBytes 3 | len }} → 4
/// ```
fn rand_bytes(engine: &mut dyn Engine, count: i64) -> Result<String, Fault> {
    let count =
        usize::try_from(count).map_err(|_| Fault::new("runtime error: makeslice: len out of range"))?;
    engine.spend(count as u64)?;
    let mut bytes = vec![0; count];
    engine.host().random(&mut bytes);
    Ok(base64::Engine::encode(&base64::prelude::BASE64_STANDARD, bytes))
}

/// A random number from `min` up to `max`, without it.
///
/// ```tmpl
/// {{ randInt 5 6 }} → 5
/// ```
fn rand_int(engine: &mut dyn Engine, min: i64, max: i64) -> Result<i64, Fault> {
    match u64::try_from(max.wrapping_sub(min)) {
        Ok(width) if width > 0 => Ok(min.wrapping_add_unsigned(below(engine, width))),
        _ => Err(Fault::new("invalid argument to Intn")),
    }
}

/// The characters of a string in random order.
///
/// ```tmpl
/// {{ shuffle "aaa" }} → aaa
/// ```
fn shuffle(engine: &mut dyn Engine, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for i in (1..characters.len()).rev() {
        let other = below(engine, i as u64 + 1);
        characters.swap(i, usize::try_from(other).unwrap_or(i));
    }
    characters.into_iter().collect()
}

/// A random UUID.
///
/// ```tmpl
/// {{ uuidv4 | len }} → 36
/// ```
fn uuidv4(engine: &mut dyn Engine) -> Value {
    let mut bytes = [0; 16];
    engine.host().random(&mut bytes);
    Value::str(uuid::Builder::from_random_bytes(bytes).into_uuid().to_string())
}
