//! A packaged chart (`.tgz`) unpacked in memory, under Helm's limits and with Helm's refusals.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Component;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use tar::EntryType;

use super::contents::{Contents, Packed};
use super::helm::Helm;
use super::{Error, File};
use crate::go::quote;
use crate::limits::Limits;

/// A UTF-8 byte order mark, which Helm takes off every file of a chart.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Unpacks an archive into the chart's files, in the archive's order and without the leading directory.
///
/// As Helm v4.3.1 `pkg/chart/loader/archive/archive.go`, Helm v3.22.0 `pkg/chart/loader/archive.go`.
///
/// # Errors
/// For what is no archive, for paths that lead out of the chart and for archives that exceed a limit, in Helm's words.
pub fn unpack(data: &[u8], helm: Helm, limits: &Limits) -> Result<Vec<File>, Error> {
    unpack_but(data, helm, limits, None)
}

/// The same; large files below `crds/` and large texts for people stay in the archive until somebody reads them.
///
/// # Errors
/// Those of [`unpack`].
pub fn unpack_lazily(data: &Arc<Vec<u8>>, helm: Helm, limits: &Limits) -> Result<Vec<File>, Error> {
    unpack_but(data, helm, limits, Some(Arc::new(Packed::new(data, helm, limits))))
}

/// What [`unpack_lazily`] leaves in the archive.
pub(super) fn left(data: &[u8], helm: Helm, limits: &Limits) -> Result<Vec<Arc<[u8]>>, Error> {
    let files = unpack(data, helm, limits)?;
    let left = files.iter().filter(|file| stays(&file.path, file.data.packed_len()));
    Ok(left.map(|file| Arc::clone(file.data.shared())).collect())
}

/// Bytes from which on a file is worth to be left in the archive.
const LARGE: u64 = 4 << 10;

/// Whether a file stays packed: definitions, and texts for people.
fn stays(path: &str, size: u64) -> bool {
    let within = |folder: &str| path.split('/').rev().skip(1).any(|part| part == folder);
    let is_text = path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("md"));
    size >= LARGE && !within("templates") && (is_text || within("crds"))
}

fn unpack_but(
    data: &[u8],
    helm: Helm,
    limits: &Limits,
    leaving: Option<Arc<Packed>>,
) -> Result<Vec<File>, Error> {
    if !data.starts_with(b"\x1f\x8b") {
        return Err(Error::new(match data.len() {
            0 => "EOF",
            1..GZIP_HEADER => "unexpected EOF",
            _ => "gzip: invalid header",
        }));
    }
    let mut unpacker =
        Unpacker { helm, limits, remaining: limits.chart_bytes, files: Vec::new(), leaving, left: 0 };
    // A bound of its own for headers and padding, so that an archive of endless empty entries ends as well.
    let stream = MultiGzDecoder::new(data).take(limits.chart_bytes.saturating_mul(2).saturating_add(1 << 20));
    let mut archive = tar::Archive::new(Forward { stream, at: 0 });
    for entry in archive.entries_with_seek().map_err(|error| broken(&error))? {
        let mut entry = entry.map_err(|error| broken(&error))?;
        unpacker.take(&mut entry)?;
    }
    if unpacker.files.is_empty() {
        return Err(Error::new("no files in chart archive"));
    }
    Ok(unpacker.files)
}

/// Bytes of the shortest header.
const GZIP_HEADER: usize = 10;

/// Whether what one Helm version unpacked is what another would: only single files may be too large for it.
#[must_use]
pub fn suits(files: &[File], helm: Helm, limits: &Limits) -> bool {
    let fits = |file: &File| file.data.packed_len() + BYTE_ORDER_MARK.len() as u64 <= limits.file_bytes;
    !helm.bounds_single_files() || files.iter().all(fits)
}

/// Refuses what is no gzip file at all, as Helm does before it opens a chart by path.
///
/// # Errors
/// With the file's name and what it seems to be.
pub fn ensure_archive(name: &str, data: &[u8]) -> Result<(), Error> {
    if data.starts_with(b"\x1f\x8b\x08") {
        return Ok(());
    }
    if [".yml", ".yaml"].iter().any(|extension| name.ends_with(extension)) {
        return Err(Error::new(format!(
            "file '{name}' seems to be a YAML file, but expected a gzipped archive"
        )));
    }
    let seems = content_type(data);
    Err(Error::new(format!("file '{name}' does not appear to be a gzipped archive; got '{seems}'")))
}

/// A stream in which one can only go on. Otherwise `tar` skips by reading into a buffer that it clears each time.
struct Forward<R> {
    stream: R,
    at: u64,
}

impl<R: Read> Read for Forward<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl<R: Read> Seek for Forward<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Current(distance) = to else { return Err(io::ErrorKind::Unsupported.into()) };
        let wanted = u64::try_from(distance).map_err(|_| io::ErrorKind::Unsupported)?;
        let skipped = io::copy(&mut (&mut self.stream).take(wanted), &mut io::sink())?;
        self.at += skipped;
        if skipped < wanted {
            return Err(io::Error::other("unexpected EOF during skip"));
        }
        Ok(self.at)
    }
}

struct Unpacker<'a> {
    helm: Helm,
    limits: &'a Limits,
    remaining: u64,
    files: Vec<File>,
    /// The archive that large definitions stay in, where they shall, and how many did so.
    leaving: Option<Arc<Packed>>,
    left: usize,
}

impl Unpacker<'_> {
    fn take<R: Read>(&mut self, entry: &mut tar::Entry<'_, R>) -> Result<(), Error> {
        let kind = entry.header().entry_type();
        let raw = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if kind == EntryType::Directory || raw.ends_with('/') || kind == EntryType::XGlobalHeader {
            return Ok(());
        }
        let path = chart_path(&raw)?;
        let data = match self.leaving.clone().filter(|_| stays(&path, entry.size())) {
            Some(archive) => self.leave(entry, &raw, &archive)?,
            None => self.read(entry, &raw)?,
        };
        if self.files.len() >= self.limits.chart_files {
            let most = self.limits.chart_files;
            return Err(Error::new(format!("chart holds more than {most} files (--limit-chart-files)")));
        }
        self.files.push(File { path, data });
        Ok(())
    }

    fn read<R: Read>(&mut self, entry: &mut tar::Entry<'_, R>, raw: &str) -> Result<Contents, Error> {
        let size = entry.size();
        self.fits(size, raw)?;
        let data = contents(entry.take(self.remaining), size).map_err(|error| broken(&error))?;
        self.count(data.len() as u64, size)?;
        Ok(if data.starts_with(BYTE_ORDER_MARK) { without_mark(data.to_vec()) } else { data.into() })
    }

    /// Goes over a file, under the same bounds.
    fn leave<R: Read>(
        &mut self,
        entry: &mut tar::Entry<'_, R>,
        raw: &str,
        archive: &Arc<Packed>,
    ) -> Result<Contents, Error> {
        let size = entry.size();
        self.fits(size, raw)?;
        let passed = io::copy(&mut entry.take(self.remaining), &mut io::sink());
        self.count(passed.map_err(|error| broken(&error))?, size)?;
        self.left += 1;
        Ok(Contents::packed(archive, self.left - 1, size))
    }

    fn fits(&self, size: u64, raw: &str) -> Result<(), Error> {
        if size > self.remaining {
            return Err(self.too_large());
        }
        if self.helm.bounds_single_files() && size > self.limits.file_bytes {
            return Err(Error::new(format!(
                "decompressed chart file {} is larger than the maximum file size {}",
                quote(raw),
                self.limits.file_bytes
            )));
        }
        Ok(())
    }

    fn count(&mut self, read: u64, size: u64) -> Result<(), Error> {
        self.remaining = self.remaining.saturating_sub(read);
        if read < size || self.remaining == 0 { Err(self.too_large()) } else { Ok(()) }
    }

    fn too_large(&self) -> Error {
        let what = if self.helm.has_short_packages() { "size" } else { "file size" };
        let most = self.limits.chart_bytes;
        Error::new(format!("decompressed chart is larger than the maximum {what} {most}"))
    }
}

/// Everything that a reader gives; `size`, which it most likely is, has met a limit already.
fn contents(mut from: impl Read, size: u64) -> io::Result<Arc<[u8]>> {
    // Made in its final place: most of the time goes into moving bytes.
    let mut whole: Arc<[u8]> = std::iter::repeat_n(0, usize::try_from(size).unwrap_or_default()).collect();
    let mut filled = 0;
    while let Some(rest) = Arc::get_mut(&mut whole).and_then(|whole| whole.get_mut(filled..)) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let mut more = Vec::new();
    from.read_to_end(&mut more)?;
    if filled == whole.len() && more.is_empty() {
        return Ok(whole);
    }
    Ok([whole.get(..filled).unwrap_or_default(), &more].concat().into())
}

/// A file's contents without a leading byte order mark.
#[must_use]
pub fn without_mark(data: Vec<u8>) -> Contents {
    match data.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => rest.into(),
        None => data.into(),
    }
}

/// The path inside the chart, or why Helm refuses it.
fn chart_path(raw: &str) -> Result<String, Error> {
    // An archive made on Windows may use backslashes.
    let delimiter = if raw.contains('\\') { '\\' } else { '/' };
    let (base, inner) = raw.split_once(delimiter).unwrap_or((raw, ""));
    let inner = inner.replace(delimiter, "/");
    if inner.starts_with('/') {
        return Err(Error::new("chart illegally contains absolute paths"));
    }
    let path = clean(&inner);
    if path == "." {
        return Err(Error::new(format!(
            "chart illegally contains content outside the base directory: {}",
            quote(raw)
        )));
    }
    if path.starts_with("..") {
        return Err(Error::new("chart illegally references parent directory"));
    }
    if is_drive(&path) {
        return Err(Error::new("chart contains illegally named files"));
    }
    if base == "Chart.yaml" {
        return Err(Error::new("chart yaml not in base directory"));
    }
    Ok(path)
}

/// Go's `path.Clean` of a relative path.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for component in std::path::Path::new(path).components() {
        match component {
            Component::ParentDir if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            Component::ParentDir => parts.push(".."),
            Component::Normal(part) => parts.push(part.to_str().unwrap_or_default()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// Whether a path begins with a drive letter, as in `c:/`.
fn is_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}

/// A reading error in Go's words.
fn broken(error: &io::Error) -> Error {
    let text = error.to_string();
    Error::new(match error.kind() {
        io::ErrorKind::UnexpectedEof => "unexpected EOF",
        io::ErrorKind::InvalidInput if text.contains("corrupt gzip stream") => "gzip: invalid checksum",
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData if text.contains("deflate") => {
            "flate: corrupt input"
        }
        _ if text.contains("failed to read entire block") => "unexpected EOF",
        _ => "archive/tar: invalid tar header",
    })
}

/// What Go's `http.DetectContentType` makes of a file's first 512 bytes, for the kinds met in practice.
fn content_type(data: &[u8]) -> &'static str {
    // Helm reads into a zeroed buffer: a file shorter than that looks binary.
    let (head, padded) = (data.get(..512).unwrap_or(data), data.len() < 512);
    let trimmed = head.trim_ascii_start();
    let begins = |prefix: &[u8]| trimmed.get(..prefix.len()).is_some_and(|p| p.eq_ignore_ascii_case(prefix));
    let binary = |byte: &u8| matches!(byte, 0..=8 | 0xb | 0xe..=0x1a | 0x1c..=0x1f);
    match head {
        _ if [&b"<!DOCTYPE HTML"[..], b"<HTML", b"<HEAD", b"<BODY"].iter().any(|tag| begins(tag)) => {
            "text/html; charset=utf-8"
        }
        _ if begins(b"<?xml") => "text/xml; charset=utf-8",
        [b'%', b'P', b'D', b'F', b'-', ..] => "application/pdf",
        [b'P', b'K', 3, 4, ..] => "application/zip",
        [b'R', b'a', b'r', b'!', 0x1a, 7, ..] => "application/x-rar-compressed",
        [0xef, 0xbb, 0xbf, ..] => "text/plain; charset=utf-8",
        _ if padded || head.iter().any(binary) => "application/octet-stream",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn pack(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, data) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_size(data.len() as u64);
            header.set_mode(0o644);
            // By hand: the builder itself refuses the paths that are tested.
            header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            builder.append(&header, *data).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap()
    }

    fn message(data: &[u8]) -> String {
        unpack(data, Helm::V4, &Limits::default()).unwrap_err().to_string()
    }

    #[test]
    fn keeps_order_and_drops_the_first_directory_and_byte_order_marks() {
        let data = pack(&[("c/b.yaml", b"\xef\xbb\xbfx"), ("c/a/../a.yaml", b"y"), ("w\\sub\\f", b"z")]);
        let files = unpack(&data, Helm::V4, &Limits::default()).unwrap();
        let seen: Vec<_> = files.iter().map(|file| (file.path.as_str(), &*file.data)).collect();
        assert_eq!(seen, [("b.yaml", &b"x"[..]), ("a.yaml", b"y"), ("sub/f", b"z")]);
    }

    #[test]
    fn large_definitions_stay_inside_until_somebody_reads_them() {
        let text = [&b"\xef\xbb\xbf"[..], &[b'x'; 20_000]].concat();
        let entries: [(&str, &[u8]); 4] = [
            ("c/crds/a.yaml", &text),
            ("c/crds/b.yaml", b"y"),
            ("c/charts/s/crds/c.yaml", &text),
            ("c/d", b"z"),
        ];
        let data = Arc::new(pack(&entries));
        let limits = Limits::default();
        let files = unpack_lazily(&data, Helm::V4, &limits).unwrap();
        let packed: Vec<bool> = files.iter().map(|file| file.data.is_packed()).collect();
        assert_eq!(packed, [true, false, true, false]);
        assert!(files[0].data.same(&files[0].data) && !files[0].data.same(&files[2].data));
        for (lazy, whole) in files.iter().zip(unpack(&data, Helm::V4, &limits).unwrap()) {
            assert_eq!((&lazy.path, &*lazy.data), (&whole.path, &*whole.data));
        }
        assert!(!files[0].data.is_packed());
        let few = Limits { chart_bytes: 30_000, file_bytes: 1_000, ..Limits::default() };
        for helm in [Helm::V3, Helm::V4] {
            let told = |files: Result<Vec<File>, Error>| files.unwrap_err().to_string();
            assert_eq!(told(unpack_lazily(&data, helm, &few)), told(unpack(&data, helm, &few)));
        }
    }

    #[test]
    fn refuses_what_helm_refuses() {
        for (path, expected) in [
            ("c//etc/passwd", "chart illegally contains absolute paths"),
            ("c/../../x", "chart illegally references parent directory"),
            ("single", "chart illegally contains content outside the base directory: \"single\""),
            ("c/x:/y", "chart contains illegally named files"),
            ("Chart.yaml/x", "chart yaml not in base directory"),
        ] {
            assert_eq!(message(&pack(&[(path, b"")])), expected, "{path}");
        }
        assert_eq!(message(b"no archive"), "gzip: invalid header");
        assert_eq!(message(b"no gzip"), "unexpected EOF");
        assert_eq!(message(&pack(&[])), "no files in chart archive");
    }

    #[test]
    fn stops_at_the_limit_and_at_a_truncated_file() {
        let limits = Limits { chart_bytes: 10, ..Limits::default() };
        let data = pack(&[("c/big", &[b'x'; 100])]);
        let message = unpack(&data, Helm::V4, &limits).unwrap_err().to_string();
        assert_eq!(message, "decompressed chart is larger than the maximum size 10");
        let noise: Vec<u8> = (0..60_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let whole = pack(&[("c/noise", &noise)]);
        assert_eq!(super::tests::message(&whole[..whole.len() / 2]), "unexpected EOF");
    }

    #[test]
    fn a_bomb_ends_early() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let mut header = tar::Header::new_gnu();
        header.set_path("c/zero").unwrap();
        header.set_size(10 << 30);
        header.set_cksum();
        encoder.write_all(header.as_bytes()).unwrap();
        encoder.write_all(&vec![0; 1 << 20]).unwrap();
        let message = message(&encoder.finish().unwrap());
        assert_eq!(message, "decompressed chart is larger than the maximum size 104857600");
    }

    #[test]
    fn names_what_is_no_archive() {
        let error = ensure_archive("values.yaml", b"a: 1").unwrap_err();
        assert!(error.to_string().ends_with("seems to be a YAML file, but expected a gzipped archive"));
        let error = ensure_archive("x.tgz", &[b'a'; 600]).unwrap_err();
        assert!(error.to_string().ends_with("got 'text/plain; charset=utf-8'"));
    }
}
