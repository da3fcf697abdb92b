//! What rendering may use: steps and bytes of values, so that what grows without bound is an error and not a machine
//! out of memory.

use super::call::BYTES_PER_STEP;
use super::exec::Exec;
use super::funcs::Fault;
use super::stack;
use super::value::{Map, Value};

/// Items of a list that cost one step when a function is given it.
const ITEMS_PER_STEP: usize = 64;

/// Bytes that an entry of a map takes besides its key and value.
const ENTRY: usize = 96;

/// Bytes that count for each part of a value that is walked as a whole.
const PART: usize = 64;

/// Bytes that a character may take when a text is taken apart.
const PIECE: usize = 40;

/// Deepest nesting that is weighed.
const DEPTH: usize = 20_000;

/// Bytes of a parse tree per byte of its text.
pub(crate) const TREE: usize = 16;

/// Functions that walk the whole of a value: one that holds another twice, and so on, is walked for ages.
const WALKING: &[&str] = &[
    "cat",
    "deepCopy",
    "deepEqual",
    "join",
    "merge",
    "mergeOverwrite",
    "mustDeepCopy",
    "mustMerge",
    "mustMergeOverwrite",
    "mustToJson",
    "mustToPrettyJson",
    "mustToRawJson",
    "mustToToml",
    "mustToYaml",
    "quote",
    "squote",
    "toJson",
    "toPrettyJson",
    "toRawJson",
    "toString",
    "toStrings",
    "toToml",
    "toYaml",
    "toYamlPretty",
];

/// Functions that make a list of the parts of a text.
const SPLITTING: &[&str] =
    &["mustRegexFindAll", "mustRegexSplit", "regexFindAll", "regexSplit", "split", "splitList", "splitn"];

/// A count as a number of bytes or steps.
fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

impl Exec<'_> {
    /// Whether so many more bytes may be made.
    fn room(&self, bytes: usize) -> Result<(), Fault> {
        let limit = self.limits.value_bytes;
        if self.made.saturating_add(wide(bytes)) <= limit {
            return Ok(());
        }
        let what = format_args!("strings, lists and maps of one render take more than {limit} bytes");
        Err(Fault::limit(what, "value-bytes"))
    }

    /// Takes bytes of the budget.
    pub(crate) fn make(&mut self, bytes: usize) -> Result<(), Fault> {
        self.room(bytes)?;
        self.made = self.made.saturating_add(wide(bytes));
        Ok(())
    }

    /// Before a call: pays for looking at the arguments, and refuses what would grow beyond the budget at once.
    pub(crate) fn foresee(&mut self, name: &str, variadic: bool, values: &[Value]) -> Result<(), Fault> {
        let texts = || values.iter().filter_map(|value| as_text(value).map(<[u8]>::len));
        let items = || values.iter().filter_map(|value| value.as_list().map(|list| list.len()));
        let steps = texts().sum::<usize>() / BYTES_PER_STEP + items().sum::<usize>() / ITEMS_PER_STEP;
        if steps > 0 {
            self.pay(wide(steps))?;
        }
        let together = texts().sum::<usize>() + items().sum::<usize>().saturating_mul(size_of::<Value>());
        if SPLITTING.contains(&name) {
            return self.room(together.saturating_mul(PIECE));
        }
        if variadic {
            self.room(together)?;
        }
        if values.iter().any(is_container) && WALKING.binary_search(&name).is_ok() {
            self.walk(name, values)?;
        }
        Ok(())
    }

    fn walk(&mut self, name: &str, values: &[Value]) -> Result<(), Fault> {
        let most = self.limits.output_bytes;
        let mut left = most;
        let fits = values.iter().all(|value| weigh(value, &mut left, 0));
        let longest = values.iter().filter_map(|value| as_text(value).map(<[u8]>::len)).max().unwrap_or(0);
        let items = values.iter().filter_map(|value| value.as_list().map(|list| list.len())).sum::<usize>();
        let between = if name == "join" { longest.saturating_mul(items) } else { 0 };
        if !fits || between > left {
            let what = format_args!("a value is longer than {most} bytes when it is written");
            return Err(Fault::limit(what, "output-bytes"));
        }
        self.pay(wide((most - left) / BYTES_PER_STEP))
    }

    /// After a call: pays for what it made.
    pub(crate) fn charge(&mut self, value: &Value) -> Result<(), Fault> {
        let bytes = fresh(value);
        if bytes > 0 { self.make(bytes) } else { Ok(()) }
    }
}

fn as_text(value: &Value) -> Option<&[u8]> {
    match value {
        Value::String(text) | Value::Bytes(text) => Some(text),
        _ => None,
    }
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Map(_))
}

/// Takes the bytes of a value as it would be written; `false` when there are not so many.
fn weigh(value: &Value, left: &mut usize, depth: usize) -> bool {
    let own = PART + as_text(value).map_or(0, <[u8]>::len);
    // What nests too deep is refused by whoever walks it.
    if depth > DEPTH || stack::exhausted() {
        return true;
    }
    let Some(rest) = left.checked_sub(own) else { return false };
    *left = rest;
    match value {
        Value::List(list) => list.iter().all(|item| weigh(item, left, depth + 1)),
        Value::Map(map) => weigh_map(map, left, depth),
        _ => true,
    }
}

fn weigh_map(map: &Map, left: &mut usize, depth: usize) -> bool {
    map.entries().iter().all(|(key, value)| {
        *left = left.saturating_sub(key.len());
        weigh(value, left, depth + 1)
    })
}

/// Bytes of what nobody else holds yet: it was just made.
fn fresh(value: &Value) -> usize {
    match value {
        Value::String(text) | Value::Bytes(text) if !text.is_shared() => text.len(),
        Value::List(list) if !list.is_shared() && !stack::exhausted() => {
            list.iter().map(|item| size_of::<Value>() + fresh(item)).sum()
        }
        Value::Map(map) if !map.is_shared() && !stack::exhausted() => {
            map.entries().iter().map(|(key, value)| ENTRY + key.len() + fresh(value)).sum()
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_for_the_search() {
        assert!(WALKING.is_sorted() && SPLITTING.is_sorted());
    }

    #[test]
    fn only_what_is_new_is_charged() {
        let old = Value::list(vec![Value::str("some text"); 10]);
        assert_eq!(fresh(&Value::list(vec![old.clone()])), size_of::<Value>());
        let other = old.clone();
        assert_eq!((fresh(&old), fresh(&other)), (0, 0));
        assert_eq!(fresh(&Value::str("abc")), 3);
    }

    #[test]
    fn a_value_that_holds_itself_twice_is_too_long() {
        let map = Map::dict();
        map.set("a", map.clone());
        map.set("b", map.clone());
        let mut left = 1 << 16;
        assert!(!weigh(&Value::Map(map.clone()), &mut left, 0) || left < 1 << 16);
        map.remove("a");
        map.remove("b");
    }
}
