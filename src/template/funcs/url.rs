//! Go's `net/url.URL`: taken apart, escaped and put together as Go 1.26 does.

use crate::go::quote;

/// Which part of a URL a text stands in; each escapes other characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Path,
    User,
    Host,
    Zone,
    Fragment,
}

/// A URL in its parts, escapes undone where Go undoes them.
#[derive(Clone, Debug, Default)]
pub(super) struct Url {
    pub(super) scheme: String,
    pub(super) opaque: Vec<u8>,
    pub(super) user: Option<User>,
    pub(super) host: Vec<u8>,
    pub(super) path: Vec<u8>,
    pub(super) raw_query: Vec<u8>,
    pub(super) fragment: Vec<u8>,
}

/// User name and, if there is one, password.
#[derive(Clone, Debug)]
pub(super) struct User {
    name: Vec<u8>,
    password: Option<Vec<u8>>,
}

impl User {
    /// `name` or `name:password`, escaped.
    pub(super) fn encoded(&self) -> Vec<u8> {
        let mut out = escape(&self.name, Part::User);
        if let Some(password) = &self.password {
            out.push(b':');
            out.extend(escape(password, Part::User));
        }
        out
    }
}

impl Url {
    /// `url.Parse`
    ///
    /// # Errors
    /// Go's words.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let (rest, fragment) = cut(text, b'#');
        let mut url = Self::parse_rest(rest).map_err(|error| format!("parse {}: {error}", quote(rest)))?;
        let fragment = unescape(fragment.unwrap_or_default(), Part::Fragment);
        url.fragment = fragment.map_err(|error| format!("parse {}: {error}", quote(text)))?;
        Ok(url)
    }

    fn parse_rest(text: &[u8]) -> Result<Self, String> {
        let mut url = Self::default();
        if text.iter().any(|b| *b < b' ' || *b == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        if text == b"*" {
            url.path = text.to_vec();
            return Ok(url);
        }
        let (scheme, rest) = split_scheme(text)?;
        url.scheme = scheme;
        let (rest, query) = cut(rest, b'?');
        url.raw_query = query.unwrap_or_default().to_vec();
        if !rest.starts_with(b"/") {
            if !url.scheme.is_empty() {
                url.opaque = rest.to_vec();
                return Ok(url);
            }
            if cut(rest, b'/').0.contains(&b':') {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let authority =
            rest.strip_prefix(b"//").filter(|_| !url.scheme.is_empty() || !rest.starts_with(b"///"));
        let path = match authority {
            Some(authority) => {
                let end = authority.iter().position(|b| *b == b'/').unwrap_or(authority.len());
                let (authority, path) = authority.split_at_checked(end).unwrap_or((authority, b""));
                url.authority(authority)?;
                path
            }
            None => rest,
        };
        url.path = unescape(path, Part::Path)?;
        Ok(url)
    }

    fn authority(&mut self, text: &[u8]) -> Result<(), String> {
        let at = text.iter().rposition(|b| *b == b'@');
        let (user, host) = match at {
            Some(at) => (text.get(..at), text.get(at + 1..).unwrap_or_default()),
            None => (None, text),
        };
        self.host = parse_host(&self.scheme, host)?;
        let Some(user) = user else { return Ok(()) };
        let valid = |b: &u8| b.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(b);
        if !user.iter().all(valid) {
            return Err("net/url: invalid userinfo".to_owned());
        }
        let (name, password) = cut(user, b':');
        self.user = Some(User {
            name: unescape(name, Part::User)?,
            password: password.map(|password| unescape(password, Part::User)).transpose()?,
        });
        Ok(())
    }

    /// The host without port and brackets.
    pub(super) fn hostname(&self) -> &[u8] {
        let colon = self.host.iter().rposition(|b| *b == b':');
        let port = colon.and_then(|colon| self.host.split_at_checked(colon));
        let host = port.filter(|(_, port)| is_port(port)).map_or(self.host.as_slice(), |(host, _)| host);
        host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]")).unwrap_or(host)
    }

    /// `URL.String`
    pub(super) fn encoded(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if !self.scheme.is_empty() {
            out.extend_from_slice(self.scheme.as_bytes());
            out.push(b':');
        }
        if self.opaque.is_empty() {
            self.encode_hierarchy(&mut out);
        } else {
            out.extend_from_slice(&self.opaque);
        }
        if !self.raw_query.is_empty() {
            out.push(b'?');
            out.extend_from_slice(&self.raw_query);
        }
        if !self.fragment.is_empty() {
            out.push(b'#');
            out.extend(escape(&self.fragment, Part::Fragment));
        }
        out
    }

    fn encode_hierarchy(&self, out: &mut Vec<u8>) {
        if !self.host.is_empty() || self.user.is_some() || !self.scheme.is_empty() && !self.path.is_empty() {
            out.extend_from_slice(b"//");
        }
        if let Some(user) = &self.user {
            out.extend(user.encoded());
            out.push(b'@');
        }
        out.extend(escape(&self.host, Part::Host));
        let path = if self.path == b"*" { self.path.clone() } else { escape(&self.path, Part::Path) };
        if !path.is_empty() && !path.starts_with(b"/") && !self.host.is_empty() {
            out.push(b'/');
        }
        if out.is_empty() && cut(&path, b'/').0.contains(&b':') {
            out.extend_from_slice(b"./");
        }
        out.extend(path);
    }
}

/// Splits at the first occurrence of a byte.
fn cut(text: &[u8], mark: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|b| *b == mark) {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..)),
        None => (text, None),
    }
}

fn split_scheme(text: &[u8]) -> Result<(String, &[u8]), String> {
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b if b.is_ascii_alphabetic() => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => {
                let scheme = String::from_utf8_lossy(text.get(..at).unwrap_or_default()).to_ascii_lowercase();
                return Ok((scheme, text.get(at + 1..).unwrap_or_default()));
            }
            _ => break,
        }
    }
    Ok((String::new(), text))
}

fn parse_host(scheme: &str, host: &[u8]) -> Result<Vec<u8>, String> {
    match host.iter().rposition(|b| *b == b'[') {
        Some(0) => return parse_literal(host),
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {}
    }
    let first = host.iter().position(|b| *b == b':');
    let last = host.iter().rposition(|b| *b == b':');
    let strict = matches!(scheme, "http" | "https");
    if let Some(port) = if strict { first } else { last }.and_then(|colon| host.get(colon..)) {
        check_port(port)?;
    }
    unescape(host, Part::Host)
}

fn check_port(port: &[u8]) -> Result<(), String> {
    if is_port(port) { Ok(()) } else { Err(format!("invalid port {} after host", quote(port))) }
}

fn is_port(port: &[u8]) -> bool {
    port.is_empty() || port.strip_prefix(b":").is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
}

/// `[::1]:80`
fn parse_literal(host: &[u8]) -> Result<Vec<u8>, String> {
    let close = host.iter().rposition(|b| *b == b']').ok_or_else(|| "missing ']' in host".to_owned())?;
    let (inside, port) = (host.get(1..close).unwrap_or_default(), host.get(close + 1..).unwrap_or_default());
    check_port(port)?;
    let port = unescape(port, Part::Host)?;
    let zone = inside.windows(3).position(|window| window == b"%25");
    let name = match zone.and_then(|at| inside.split_at_checked(at)) {
        Some((name, zone)) => [unescape(name, Part::Host)?, unescape(zone, Part::Zone)?].concat(),
        None => unescape(inside, Part::Host)?,
    };
    let text = String::from_utf8_lossy(&name).into_owned();
    let (address, _) = text.split_once('%').unwrap_or((&text, ""));
    match address.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V6(_)) => Ok([b"[", name.as_slice(), b"]", port.as_slice()].concat()),
        Ok(_) => Err("invalid IP-literal".to_owned()),
        Err(_) => Err(format!("invalid host: ParseAddr({}): unable to parse IP", quote(&text))),
    }
}

/// Whether a byte is escaped in a part.
fn escapes(byte: u8, part: Part) -> bool {
    match byte {
        b if b.is_ascii_alphanumeric() => false,
        b'-' | b'_' | b'.' | b'~' => false,
        b if matches!(part, Part::Host | Part::Zone) => !b"!$&'()*+,;=:[]<>\"".contains(&b),
        b'$' | b'&' | b'+' | b',' | b';' | b'=' => false,
        b'/' | b'@' | b':' => part == Part::User,
        b'?' | b'!' | b'(' | b')' | b'*' => part != Part::Fragment,
        _ => true,
    }
}

/// Escapes what must be escaped in a part.
pub(super) fn escape(text: &[u8], part: Part) -> Vec<u8> {
    let escaped =
        |byte: &u8| if escapes(*byte, part) { format!("%{byte:02X}").into_bytes() } else { vec![*byte] };
    text.iter().flat_map(escaped).collect()
}

/// Undoes escapes.
fn unescape(text: &[u8], part: Part) -> Result<Vec<u8>, String> {
    let in_host = matches!(part, Part::Host | Part::Zone);
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        if *byte != b'%' {
            if in_host && byte.is_ascii() && escapes(*byte, part) {
                return Err(format!("invalid character {} in host name", quote([*byte])));
            }
            out.push(*byte);
            rest = after;
            continue;
        }
        let written = rest.get(..3).unwrap_or(rest);
        let refused = || format!("invalid URL escape {}", quote(written));
        let code = hex_pair(written).ok_or_else(refused)?;
        let allowed = match part {
            // Only bytes beyond ASCII may be escaped in a host.
            Part::Host => code >= 0x80 || written == b"%25",
            Part::Zone => written == b"%25" || code == b' ' || !escapes(code, Part::Host),
            _ => true,
        };
        if !allowed {
            return Err(refused());
        }
        out.push(code);
        rest = rest.get(3..).unwrap_or_default();
    }
    Ok(out)
}

fn hex_pair(written: &[u8]) -> Option<u8> {
    let [b'%', high, low] = written else { return None };
    let digit = |b: &u8| char::from(*b).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}
