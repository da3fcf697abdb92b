//! What names are made of: DNS labels and subdomains (RFC 1123), in lower case as Kubernetes has them.

/// Whether a text is made as a label: letters, digits and hyphens, with no hyphen at its ends. Its length is not looked at.
#[must_use]
pub fn is_label(text: &str) -> bool {
    let outer = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| outer(*byte))
        && bytes.last().is_some_and(|byte| outer(*byte))
        && bytes.iter().all(|byte| outer(*byte) || *byte == b'-')
}

/// Whether a text is made as a subdomain: labels between dots. Its length is not looked at.
#[must_use]
pub fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_subdomains() {
        for (text, label, subdomain) in [
            ("a", true, true),
            ("a-1", true, true),
            ("1.b", false, true),
            ("", false, false),
            ("-a", false, false),
            ("a-", false, false),
            ("A", false, false),
            ("a..b", false, false),
            ("a.-b", false, false),
            ("ä", false, false),
        ] {
            assert_eq!((is_label(text), is_subdomain(text)), (label, subdomain), "{text}");
        }
    }
}
