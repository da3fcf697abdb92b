//! Integer arithmetic of `$((…))`.

/// How deep parentheses may nest.
const DEPTH: usize = 50;

/// Evaluates an expression; `lookup` gives the value of a variable.
///
/// # Errors
/// A text that says what is wrong.
pub(super) fn evaluate(text: &str, lookup: &dyn Fn(&str) -> String) -> Result<i64, String> {
    let mut reader = Reader { text: text.chars().collect(), at: 0, depth: 0, lookup };
    let value = reader.level(0)?;
    reader.blanks();
    match reader.text.get(reader.at) {
        None => Ok(value),
        Some(c) => Err(format!("arithmetic: unexpected `{c}`")),
    }
}

struct Reader<'a> {
    text: Vec<char>,
    at: usize,
    depth: usize,
    lookup: &'a dyn Fn(&str) -> String,
}

/// Binary operators from the loosest to the tightest.
const LEVELS: [&[&str]; 8] = [
    &["||"],
    &["&&"],
    &["|", "^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Reader<'_> {
    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn operator(&mut self, level: usize) -> Option<&'static str> {
        self.blanks();
        let rest: String = self.text.iter().skip(self.at).take(2).collect();
        let found = LEVELS.get(level)?.iter().find(|op| rest.starts_with(**op))?;
        let doubled = found.len() == 1 && matches!(rest.as_str(), "||" | "&&");
        if doubled {
            return None;
        }
        self.at += found.len();
        Some(found)
    }

    fn level(&mut self, level: usize) -> Result<i64, String> {
        if level == LEVELS.len() {
            return self.unary();
        }
        let mut left = self.level(level + 1)?;
        while let Some(operator) = self.operator(level) {
            let right = self.level(level + 1)?;
            left = apply(operator, left, right)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i64, String> {
        self.blanks();
        match self.text.get(self.at) {
            Some('-') => self.after(|v| v.wrapping_neg()),
            Some('+') => self.after(|v| v),
            Some('!') => self.after(|v| i64::from(v == 0)),
            Some('(') => self.parentheses(),
            Some(c) if c.is_ascii_digit() => self.number(),
            Some(c) if *c == '_' || c.is_ascii_alphabetic() => self.variable(),
            Some(c) => Err(format!("arithmetic: unexpected `{c}`")),
            None => Ok(0),
        }
    }

    fn after(&mut self, change: fn(i64) -> i64) -> Result<i64, String> {
        self.at += 1;
        self.nested(|reader| reader.unary()).map(change)
    }

    fn parentheses(&mut self) -> Result<i64, String> {
        self.at += 1;
        let value = self.nested(|reader| reader.level(0))?;
        self.blanks();
        if self.text.get(self.at) != Some(&')') {
            return Err("arithmetic: `)` expected".to_owned());
        }
        self.at += 1;
        Ok(value)
    }

    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Result<i64, String>) -> Result<i64, String> {
        if self.depth >= DEPTH {
            return Err("arithmetic: nests too deeply".to_owned());
        }
        self.depth += 1;
        let value = inner(self);
        self.depth -= 1;
        value
    }

    fn token(&mut self) -> String {
        let start = self.at;
        while self.text.get(self.at).is_some_and(|c| *c == '_' || c.is_ascii_alphanumeric()) {
            self.at += 1;
        }
        self.text[start..self.at].iter().collect()
    }

    fn number(&mut self) -> Result<i64, String> {
        let token = self.token();
        integer(&token).ok_or_else(|| format!("arithmetic: `{token}` is not a number"))
    }

    fn variable(&mut self) -> Result<i64, String> {
        let name = self.token();
        let value = (self.lookup)(&name);
        let value = value.trim();
        if value.is_empty() {
            return Ok(0);
        }
        let (sign, digits) = value.strip_prefix('-').map_or((1, value), |rest| (-1, rest));
        integer(digits).map(|v| sign * v).ok_or_else(|| format!("arithmetic: `{value}` is not a number"))
    }
}

fn integer(token: &str) -> Option<i64> {
    if let Some(hex) = token.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok();
    }
    let octal = token.len() > 1 && token.starts_with('0');
    i64::from_str_radix(token, if octal { 8 } else { 10 }).ok()
}

fn apply(operator: &str, left: i64, right: i64) -> Result<i64, String> {
    if right == 0 && matches!(operator, "/" | "%") {
        return Err("arithmetic: division by zero".to_owned());
    }
    Ok(match operator {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" => left.wrapping_div(right),
        _ => left.wrapping_rem(right),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let lookup = |name: &str| if name == "n" { "4".to_owned() } else { String::new() };
        let table =
            [("1 + 2 * 3", 7), ("(1+2)*3", 9), ("n-1", 3), ("-n", -4), ("n > 3 && m == 0", 1), ("10 % 4", 2)];
        for (text, expected) in table {
            assert_eq!(evaluate(text, &lookup), Ok(expected), "{text}");
        }
        assert!(evaluate("1 / 0", &lookup).is_err());
        assert!(evaluate("1 +* 2", &lookup).is_err());
    }
}
