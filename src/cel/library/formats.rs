//! Named formats: `format.dns1123Label().validate(self)`.

use std::sync::LazyLock;

use ::cel::Value;
use ::cel::objects::Opaque;
use regex::Regex;

use crate::cel::functions::Shape::{self, Optional, Text};
use crate::cel::functions::{Overload, overload};
use crate::cel::library::{opaque, string, text, wrap};

const FORMAT: Shape = Shape::Opaque("kubernetes.NamedFormat");

pub(in crate::cel) const OVERLOADS: &[Overload] = &[
    overload!("format.named" (Text) -> Optional, named),
    overload!("format.dns1123Label" () -> FORMAT, dns1123_label),
    overload!("format.dns1123Subdomain" () -> FORMAT, dns1123_subdomain),
    overload!("format.dns1035Label" () -> FORMAT, dns1035_label),
    overload!("format.qualifiedName" () -> FORMAT, qualified_name),
    overload!("format.labelValue" () -> FORMAT, label_value),
    overload!("format.uuid" () -> FORMAT, uuid),
    overload!("format.date" () -> FORMAT, date),
    overload!(member "validate" (FORMAT, Text) -> Optional, validate),
];

#[derive(Clone, Debug, PartialEq, Eq)]
struct Format(&'static Rule);

impl Opaque for Format {
    fn runtime_type_name(&self) -> &str {
        "kubernetes.NamedFormat"
    }
}

/// A format: its name, longest length, pattern, and what is said about texts that do not match.
#[derive(Debug, PartialEq, Eq)]
struct Rule {
    name: &'static str,
    most: usize,
    pattern: &'static str,
    words: &'static str,
}

const RULES: [Rule; 7] = [
    Rule {
        name: "dns1123Label",
        most: 63,
        pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        words: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    },
    Rule {
        name: "dns1123Subdomain",
        most: 253,
        pattern: r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        words: r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    },
    Rule {
        name: "dns1035Label",
        most: 63,
        pattern: "^[a-z]([-a-z0-9]*[a-z0-9])?$",
        words: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    },
    Rule {
        name: "qualifiedName",
        most: 317,
        pattern: r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$",
        words: "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    },
    Rule {
        name: "labelValue",
        most: 63,
        pattern: "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
        words: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    },
    Rule {
        name: "uuid",
        most: 36,
        pattern: "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$",
        words: "does not match the UUID format",
    },
    Rule {
        name: "date",
        most: 10,
        pattern: r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$",
        words: "invalid date",
    },
];

static ALL: LazyLock<Vec<(Rule, Option<Regex>)>> = LazyLock::new(|| {
    RULES
        .into_iter()
        .map(|rule| {
            let regex = Regex::new(rule.pattern).ok();
            (rule, regex)
        })
        .collect()
});

fn find(name: &str) -> Option<&'static (Rule, Option<Regex>)> {
    ALL.iter().find(|(rule, _)| rule.name == name)
}

fn format(name: &str) -> Result<Value, String> {
    find(name).map(|(rule, _)| wrap(Format(rule))).ok_or_else(|| format!("unknown format {name}"))
}

fn named(args: &[Value]) -> Result<Value, String> {
    Ok(crate::cel::optional(format(text(args.first())?).ok()))
}

fn dns1123_label(_: &[Value]) -> Result<Value, String> {
    format("dns1123Label")
}

fn dns1123_subdomain(_: &[Value]) -> Result<Value, String> {
    format("dns1123Subdomain")
}

fn dns1035_label(_: &[Value]) -> Result<Value, String> {
    format("dns1035Label")
}

fn qualified_name(_: &[Value]) -> Result<Value, String> {
    format("qualifiedName")
}

fn label_value(_: &[Value]) -> Result<Value, String> {
    format("labelValue")
}

fn uuid(_: &[Value]) -> Result<Value, String> {
    format("uuid")
}

fn date(_: &[Value]) -> Result<Value, String> {
    format("date")
}

/// Nothing when the text has the format, else what is wrong with it.
fn validate(args: &[Value]) -> Result<Value, String> {
    let rule = opaque::<Format>(args.first())?.0;
    let source = text(args.get(1))?;
    let mut faults = Vec::new();
    if source.len() > rule.most {
        faults.push(string(format!("must be no more than {} characters", rule.most)));
    }
    let fits =
        find(rule.name).and_then(|(_, regex)| regex.as_ref()).is_some_and(|regex| regex.is_match(source));
    if !fits {
        faults.push(string(rule.words));
    }
    Ok(crate::cel::optional((!faults.is_empty()).then(|| crate::cel::list(faults))))
}
