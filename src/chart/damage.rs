//! What is wrong with an archive that can't be unpacked: how far it can be read, and whether it ends too early.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;

use crate::limits::Limits;

/// How far an archive goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where it stops, in words.
    pub message: String,
    /// What to do.
    pub hint: &'static str,
}

const CUT: &str =
    "The archive is cut off: fetch it again, and compare its size and digest with those of its source.";
const BROKEN: &str =
    "The archive is damaged: fetch it again, and compare its size and digest with those of its source.";

/// Where an archive stops being one; `None` for what is no archive at all and for what is whole.
#[must_use]
pub fn damage(data: &[u8], limits: &Limits) -> Option<Damage> {
    if data.is_empty() {
        return Some(Damage { message: "the file is empty".to_owned(), hint: CUT });
    }
    if !data.starts_with(b"\x1f\x8b") {
        return None;
    }
    let mut place = "before its first file".to_owned();
    let error = walk(data, limits, &mut place).err()?;
    let size = data.len();
    Some(if cut_off(&error) {
        Damage { message: format!("the archive ends after {size} bytes, {place}"), hint: CUT }
    } else {
        Damage { message: format!("the archive can't be read on, {place}: {error}"), hint: BROKEN }
    })
}

/// Reads everything and keeps nothing; `place` is where it is.
fn walk(data: &[u8], limits: &Limits, place: &mut String) -> io::Result<()> {
    let most = limits.chart_bytes.saturating_mul(2).saturating_add(1 << 20);
    let mut archive = tar::Archive::new(MultiGzDecoder::new(data).take(most));
    let read = entries(&mut archive, place);
    // What goes on beyond that is too large, and not damaged as far as anybody knows.
    if archive.into_inner().limit() == 0 { Ok(()) } else { read }
}

fn entries(archive: &mut tar::Archive<impl Read>, place: &mut String) -> io::Result<()> {
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        *place = format!("inside of {path}");
        let (size, read) = (entry.header().size()?, io::copy(&mut entry, &mut io::sink())?);
        if read < size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        *place = format!("after {path}");
    }
    Ok(())
}

fn cut_off(error: &io::Error) -> bool {
    let text = error.to_string();
    error.kind() == io::ErrorKind::UnexpectedEof
        || text.contains("failed to read entire block")
        || text.contains("unexpected EOF")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn archive() -> Vec<u8> {
        let mut tar = tar::Builder::new(Vec::new());
        for (path, size) in [("c/Chart.yaml", 100_usize), ("c/values.yaml", 200_000)] {
            // Nothing that can be compressed, so that the place in the archive is that in the file.
            let mut state = 1_u32;
            let mut noise = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            };
            let data: Vec<u8> = (0..size).map(|_| noise()).collect();
            let mut header = tar::Header::new_gnu();
            header.set_size(size as u64);
            header.set_cksum();
            tar.append_data(&mut header, path, data.as_slice()).unwrap();
        }
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&tar.into_inner().unwrap()).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn the_place_where_an_archive_ends_is_named() {
        let (whole, limits) = (archive(), Limits::default());
        let told = |data: &[u8]| damage(data, &limits).map(|damage| damage.message);
        assert_eq!(told(&whole), None);
        assert_eq!(told(b"no archive"), None);
        assert_eq!(told(b"").as_deref(), Some("the file is empty"));
        let cut = |size: usize| told(&whole[..size]);
        assert_eq!(cut(5).as_deref(), Some("the archive ends after 5 bytes, before its first file"));
        assert_eq!(
            cut(100_000).as_deref(),
            Some("the archive ends after 100000 bytes, inside of c/values.yaml")
        );
        let mut broken = whole.clone();
        broken[10..30].fill(0xff);
        let message = told(&broken).unwrap();
        assert!(message.starts_with("the archive can't be read on, before its first file: "), "{message}");
    }
}
