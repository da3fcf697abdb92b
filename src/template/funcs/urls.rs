//! Functions on URLs.

use super::url::Url;
use super::{Fault, Func};
use crate::func;
use crate::template::value::{GoStr, Map, Value};

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[func!("urlJoin", url_join), func!("urlParse", url_parse)];

/// Puts a URL together from a dictionary as `urlParse` gives it.
///
/// ```tmpl
/// {{ urlJoin (dict "scheme" "http" "host" "host:80" "path" "/path" "query" "a=1") }} → http://host:80/path?a=1
/// ```
fn url_join(parts: &Map) -> Result<GoStr, Fault> {
    let bytes = |key: &str| part(parts, key).map(|text| text.as_bytes().to_vec());
    let userinfo = part(parts, "userinfo")?;
    let mut url = Url {
        scheme: part(parts, "scheme")?.lossy().into_owned(),
        host: bytes("host")?,
        path: bytes("path")?,
        raw_query: bytes("query")?,
        opaque: bytes("opaque")?,
        fragment: bytes("fragment")?,
        user: None,
    };
    if !userinfo.is_empty() {
        let parsed = Url::parse(&[b"proto://", userinfo.as_bytes(), b"@host"].concat());
        url.user =
            parsed.map_err(|error| Fault::new(format!("unable to parse userinfo in dict: {error}")))?.user;
    }
    Ok(GoStr::from(url.encoded()))
}

fn part(parts: &Map, key: &str) -> Result<GoStr, Fault> {
    match parts.get(key) {
        None => Ok(GoStr::from("")),
        Some(Value::String(text)) => Ok(text),
        Some(Value::Nil) => Err(Fault::new(super::lists::NIL_POINTER)),
        Some(other) => Err(Fault::new(format!(
            "unable to parse {key} key, must be of type string, but {} found",
            other.kind()
        ))),
    }
}

/// Takes a URL apart: scheme, host, hostname, path, query, opaque, fragment, userinfo.
///
/// ```tmpl
/// {{ (urlParse "http://admin:secret@server.com:8080/api?list=false#anchor").userinfo }} → admin:secret
/// ```
fn url_parse(text: &[u8]) -> Result<Map, Fault> {
    let url = Url::parse(text).map_err(|error| Fault::new(format!("unable to parse url: {error}")))?;
    let userinfo = url.user.as_ref().map(super::url::User::encoded).unwrap_or_default();
    let hostname = GoStr::from(url.hostname());
    Ok([
        ("scheme", GoStr::from(url.scheme)),
        ("hostname", hostname),
        ("host", GoStr::from(url.host)),
        ("path", GoStr::from(url.path)),
        ("query", GoStr::from(url.raw_query)),
        ("opaque", GoStr::from(url.opaque)),
        ("fragment", GoStr::from(url.fragment)),
        ("userinfo", GoStr::from(userinfo)),
    ]
    .into_iter()
    .collect())
}
