//! Foreign text made harmless for where it is shown.

/// For a terminal: control characters other than newline and tab are shown, not sent.
#[must_use]
pub fn terminal(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) && c != '\n' && c != '\t' {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    safe
}

/// For one line of a terminal: also what would begin another line, or move on in this one, is shown.
#[must_use]
pub fn line(text: &str) -> String {
    terminal(text).replace('\n', "\\n").replace('\t', "\\t")
}

// Bidirectional overrides can make a line read as something else (CVE-2021-42574).
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{200b}'..='\u{200f}' | '\u{feff}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{61c}' | '\u{180e}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// For running Markdown text: what would start markup, mentions or HTML is escaped; lines are joined.
#[must_use]
pub fn markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in terminal(text).chars() {
        match c {
            '\n' => safe.push(' '),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => {
                safe.push('\\');
                safe.push(c);
            }
            // A zero-width joiner keeps `@name` from notifying anybody.
            '@' => safe.push_str("@\u{2060}"),
            c => safe.push(c),
        }
    }
    safe
}

/// For running Markdown text in which commands stand between backticks.
#[must_use]
pub fn markdown_with_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return markdown(text);
    }
    let part = |(n, part): (usize, &&str)| if n % 2 == 0 { markdown(part) } else { code_span(part) };
    parts.iter().enumerate().map(part).collect()
}

/// For HTML, also within attributes and as a line of Markdown that is HTML; what stands between backticks is code.
#[must_use]
pub fn html_with_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html(text);
    }
    let part = |(n, part): (usize, &&str)| match n % 2 {
        0 => html(part),
        _ => format!("<code>{}</code>", html(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

fn html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in terminal(text).chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// For a line of HTML within Markdown, where Markdown's own marks mean nothing; nobody is mentioned.
#[must_use]
pub fn markdown_html(text: &str) -> String {
    html_with_code(text).replace('\n', " ").replace('@', "@\u{2060}")
}

/// For a Markdown code span in running text or a table cell.
#[must_use]
pub fn code_span(text: &str) -> String {
    let flat = terminal(text).replace('\n', " ").replace('|', "\\|");
    let longest = flat.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if flat.starts_with('`') || flat.ends_with('`') || flat.is_empty() { " " } else { "" };
    format!("{fence}{pad}{flat}{pad}{fence}")
}

/// A Markdown code block whose fence no content can close.
#[must_use]
pub fn code_block(language: &str, text: &str) -> String {
    let safe = terminal(text);
    let longest = safe.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", safe.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        assert_eq!(terminal("\u{1b}]0;x\u{7}\u{202e}"), "\\u{1b}]0;x\\u{7}\\u{202e}");
        assert_eq!(line("a\nSAFE\tb\u{2028}"), "a\\nSAFE\\tb\\u{2028}");
        assert_eq!(markdown("<img> | @all\n[x](y)"), "&lt;img&gt; \\| @\u{2060}all \\[x\\](y)");
        assert_eq!(markdown_with_code("as `a | <b>`, *c*"), "as `a \\| <b>`, \\*c\\*");
        assert_eq!(markdown_with_code("no ` pair"), "no \\` pair");
        assert_eq!(html_with_code("as `a < b`, \"c\""), "as <code>a &lt; b</code>, &quot;c&quot;");
        assert_eq!(html_with_code("no ` pair, <i>"), "no ` pair, &lt;i&gt;");
        assert_eq!(markdown_html("*a*\n`<b>` @all"), "*a* <code>&lt;b&gt;</code> @\u{2060}all");
        assert_eq!(code_span("a`b"), "``a`b``");
        assert!(code_block("", "```\nx").starts_with("````\n"));
    }
}
