//! What names have to look like, and what the server says to those that don't.
//!
//! Source: Kubernetes 1.34.3, apimachinery `pkg/util/validation/validation.go`, `pkg/api/validation/path`.

use super::dns;

/// Texts about what is wrong with a name; none where nothing is.
pub type Faults = Vec<String>;

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
                     end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
                     '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const DNS_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
                        character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
                        validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
                         start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
                         '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const WILDCARD: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must \
                        consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric \
                        character (e.g. '*.example.com', regex used for validation is \
                        '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED: &str = "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                         alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                         '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. \
                         'example.com/MyName')";
const NAME_PART: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                         alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                         '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
                           start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
                           validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
                          'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// Those of these faults that are there.
fn faults<const N: usize>(all: [(bool, &str); N]) -> Faults {
    all.into_iter().filter(|(is_there, _)| *is_there).map(|(_, fault)| fault.to_owned()).collect()
}

/// What is wrong with a name that is a segment of a path.
#[must_use]
pub fn segment_faults(name: &str) -> Faults {
    match name {
        "." => vec!["may not be '.'".to_owned()],
        ".." => vec!["may not be '..'".to_owned()],
        _ => {
            faults([(name.contains('/'), "may not contain '/'"), (name.contains('%'), "may not contain '%'")])
        }
    }
}

/// What is wrong with an RFC 1123 label.
#[must_use]
pub fn label_faults(name: &str) -> Faults {
    let dotted = !dns::is_label(name) && dns::is_subdomain(name);
    faults([
        (name.len() > 63, "must be no more than 63 characters"),
        (dotted, "must not contain dots"),
        (!dotted && !dns::is_label(name), LABEL),
    ])
}

/// What is wrong with a DNS-1035 label.
#[must_use]
pub fn service_faults(name: &str) -> Faults {
    let fits = dns::is_label(name) && name.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
    faults([(name.len() > 63, "must be no more than 63 characters"), (!fits, DNS_1035)])
}

/// What is wrong with an RFC 1123 subdomain.
#[must_use]
pub fn subdomain_faults(name: &str) -> Faults {
    faults([(name.len() > 253, "must be no more than 253 characters"), (!dns::is_subdomain(name), SUBDOMAIN)])
}

/// What is wrong with a subdomain that stands for all below it.
#[must_use]
pub fn wildcard_faults(name: &str) -> Faults {
    let fits = name.strip_prefix("*.").is_some_and(dns::is_subdomain);
    faults([(name.len() > 253, "must be no more than 253 characters"), (!fits, WILDCARD)])
}

fn is_name_part(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// What is wrong with a key of labels or annotations, or a qualified name elsewhere.
#[must_use]
pub fn qualified_name_faults(key: &str) -> Faults {
    let (prefix, name) = match key.split_once('/') {
        None => (Vec::new(), key),
        Some((_, name)) if name.contains('/') => return vec![QUALIFIED.to_owned()],
        Some(("", name)) => (vec!["prefix part must be non-empty".to_owned()], name),
        Some((prefix, name)) => {
            let faults = subdomain_faults(prefix);
            (faults.into_iter().map(|fault| format!("prefix part {fault}")).collect(), name)
        }
    };
    let own = faults([
        (name.is_empty(), "name part must be non-empty"),
        (name.len() > 63, "name part must be no more than 63 characters"),
        (!is_name_part(name), NAME_PART),
    ]);
    prefix.into_iter().chain(own).collect()
}

/// What is wrong with the value of a label.
#[must_use]
pub fn label_value_faults(value: &str) -> Faults {
    let fits = value.is_empty() || is_name_part(value);
    faults([(value.len() > 63, "must be no more than 63 characters"), (!fits, LABEL_VALUE)])
}

/// What is wrong with the name of a port.
#[must_use]
pub fn port_name_faults(name: &str) -> Faults {
    let bytes = name.as_bytes();
    let is_plain = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-';
    faults([
        (name.len() > 15, "must be no more than 15 characters"),
        (
            name.is_empty() || !bytes.iter().all(is_plain),
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        ),
        (!bytes.iter().any(u8::is_ascii_lowercase), "must contain at least one letter (a-z)"),
        (name.contains("--"), "must not contain consecutive hyphens"),
        (name.starts_with('-') || name.ends_with('-'), "must not begin or end with a hyphen"),
    ])
}

/// What is wrong with a key of a ConfigMap or Secret.
#[must_use]
pub fn config_key_faults(key: &str) -> Faults {
    let fits =
        !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    faults([
        (key.len() > 253, "must be no more than 253 characters"),
        (!fits, CONFIG_KEY),
        (key == ".", "must not be '.'"),
        (key == "..", "must not be '..'"),
        (key.starts_with("..") && key != "..", "must not start with '..'"),
    ])
}

/// What is wrong with the name of a variable of a container: since 1.34 nearly nothing.
#[must_use]
pub fn variable_faults(name: &str) -> Faults {
    let fits = name.bytes().all(|b| matches!(b, b' '..=b'~') && b != b'=');
    faults([(
        !fits,
        "a valid environment variable name must consist only of printable ASCII characters other than '='",
    )])
}

/// What is wrong with the name of a header.
#[must_use]
pub fn header_faults(name: &str) -> Faults {
    let fits = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    faults([(
        !fits,
        "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for \
         validation is '[-A-Za-z0-9]+')",
    )])
}

/// What is wrong with the name of a kernel parameter.
#[must_use]
pub fn sysctl_faults(name: &str) -> Faults {
    let part = |part: &str| {
        let outer = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        let bytes = part.as_bytes();
        outer(bytes.first())
            && outer(bytes.last())
            && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'))
    };
    let fits = name.len() <= 253 && name.split(['.', '/']).all(part);
    faults([(
        !fits,
        "must have at most 253 characters and match regex \
         ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$",
    )])
}
