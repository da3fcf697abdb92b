//! Running text in lines of a width; commands that are to be copied stay whole.

/// Breaks a line where it would be wider than `width` characters; further lines begin with `hang` blanks. A width of 0
/// breaks nothing.
pub(super) fn wrapped(text: &str, hang: usize, width: usize) -> String {
    if width == 0 || columns(text) <= width {
        return text.to_owned();
    }
    let indent = text.len() - text.trim_start_matches(' ').len();
    let mut lines = text[..indent].to_owned();
    // A mark never stands alone at the end of a line.
    let (mut used, mut empty, mut marked) = (indent, true, false);
    for piece in pieces(&text[indent..]) {
        let size = columns(piece);
        if !empty && !marked && used + 1 + size > width {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', hang));
            (used, empty) = (hang, true);
        }
        if !empty {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(piece);
        (used, empty, marked) = (used + size, false, piece == "→");
    }
    lines
}

/// What stays together: words, and commands up to the mark that ends them.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = if is_command(rest) { command_end(rest) } else { rest.find(' ').unwrap_or(rest.len()) };
        let (piece, tail) = rest.split_at(end);
        pieces.push(piece);
        rest = tail.strip_prefix(' ').unwrap_or(tail);
    }
    pieces
}

/// Programs whose command lines are shown.
const PROGRAMS: &[&str] = &["kubectl ", "helm ", "docker ", "seatrial ", "awk "];

fn is_command(text: &str) -> bool {
    let text = text.trim_start_matches(['(', '`']);
    PROGRAMS.iter().any(|program| text.starts_with(program))
}

/// Where a command ends: behind the first word that closes a clause.
fn command_end(text: &str) -> usize {
    let closes = |word: &str| word.ends_with([',', ';', ':', ')', '`']);
    let mut end = 0;
    for word in text.split(' ') {
        end += word.len();
        if closes(word) {
            return end;
        }
        end += 1;
    }
    text.len()
}

/// Width on a terminal, where colours take no place.
fn columns(text: &str) -> usize {
    let (mut columns, mut escaped) = (0, false);
    for c in text.chars() {
        match c {
            '\u{1b}' => escaped = true,
            'm' if escaped => escaped = false,
            _ if escaped => {}
            _ => columns += 1,
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_they_should() {
        assert_eq!(wrapped("  one two three", 4, 9), "  one two\n    three");
        assert_eq!(wrapped("  one two three", 4, 0), "  one two three");
        assert_eq!(wrapped("  unbreakable", 4, 5), "  unbreakable");
        assert_eq!(wrapped("→ helm list -A", 2, 5), "→ helm list -A");
    }

    #[test]
    fn commands_stay_whole() {
        let text = "do kubectl get pods -A, then (helm list -n x) and go on";
        assert_eq!(
            wrapped(text, 2, 10),
            "do\n  kubectl get pods -A,\n  then\n  (helm list -n x)\n  and go\n  on"
        );
    }

    #[test]
    fn colours_take_no_place() {
        assert_eq!(wrapped("\u{1b}[1mred\u{1b}[0m ab", 0, 6), "\u{1b}[1mred\u{1b}[0m ab");
    }
}
