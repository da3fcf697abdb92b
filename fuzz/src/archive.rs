//! Packaged charts: the input as it is, or as a tar that is packed here, since no fuzzer guesses a checksum.

use std::io::Write as _;
use std::sync::Arc;

use flate2::{Compression, write::GzEncoder};
use seatrial::chart::{Chart, Error, File, Helm, archive, damage, detect};

use crate::{deep, helms, limits};

/// Unpacks and loads the archive as every Helm does.
pub fn run(data: &[u8]) {
    deep(|| {
        open(data);
        open(&pack(data));
        let mut tar = data.to_vec();
        mend(&mut tar);
        open(&pack(&tar));
    });
}

fn open(data: &[u8]) {
    let _ = damage::damage(data, &limits());
    for helm in helms() {
        let unpack = || archive::unpack(data, helm, &limits());
        let _ = detect::archive("/fuzz.tgz", data, unpack, (helm, &limits()));
        let unpacked = unpack();
        let lazily = archive::unpack_lazily(&Arc::new(data.to_vec()), helm, &limits());
        assert_eq!(told(&lazily), told(&unpacked));
        if let Ok(files) = &unpacked {
            files.iter().for_each(stays_inside);
            others(files, data);
        }
        let _ = unpacked.and_then(|files| Chart::from_files(files, helm, &limits()));
    }
}

fn stays_inside(file: &File) {
    assert!(!file.path.is_empty() && !file.path.starts_with('/'), "{:?}", file.path);
    assert!(file.path.split('/').all(|part| !matches!(part, "" | "." | "..")), "{:?}", file.path);
    assert!(file.data.len() as u64 <= limits().chart_bytes);
}

/// The files' contents, or why there are none.
fn told(unpacked: &Result<Vec<File>, Error>) -> Result<Vec<(String, Vec<u8>)>, String> {
    unpacked.as_ref().map(|files| contents(files)).map_err(ToString::to_string)
}

fn contents(files: &[File]) -> Vec<(String, Vec<u8>)> {
    files.iter().map(|file| (file.path.clone(), file.data.to_vec())).collect()
}

/// What suits another Helm is what that one unpacks.
fn others(files: &[File], data: &[u8]) {
    for helm in helms().into_iter().filter(|helm: &Helm| archive::suits(files, *helm, &limits())) {
        let other = archive::unpack(data, helm, &limits()).expect("an archive that suits");
        assert_eq!(contents(&other), contents(files));
    }
}

fn pack(tar: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    gzip.write_all(tar).expect("memory");
    gzip.finish().expect("memory")
}

const BLOCK: usize = 512;

/// Sets the checksum of every header right, and fills up the last block.
fn mend(tar: &mut Vec<u8>) {
    tar.resize(tar.len().next_multiple_of(BLOCK), 0);
    let mut at = 0;
    while let Some(header) = tar.get_mut(at..at + BLOCK) {
        at += BLOCK + size(header).next_multiple_of(BLOCK);
        if header.iter().any(|byte| *byte != 0) {
            header[148..156].fill(b' ');
            let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
            header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
    }
}

/// The size that a header tells; what can't be in the input counts as none.
fn size(header: &[u8]) -> usize {
    let text = String::from_utf8_lossy(&header[124..136]).into_owned();
    let size = usize::from_str_radix(text.trim_matches(['\0', ' ']), 8).unwrap_or(0);
    if size > 1 << 24 { 0 } else { size }
}
