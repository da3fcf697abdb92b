//! The scrypt key derivation (RFC 7914) with the parameters of Sprig's `derivePassword`.

use sha2::{Digest, Sha256};

/// Cost N, block size r, parallelism p and key length: 32 MiB of memory for a moment.
const COST: usize = 32_768;
const BLOCK: usize = 8;
const LANES: usize = 2;
const KEY: usize = 64;

/// Words in one lane.
const WORDS: usize = 32 * BLOCK;

/// Derives a key of 64 bytes.
pub(super) fn scrypt(password: &[u8], salt: &[u8]) -> Vec<u8> {
    let mut lanes = pbkdf2(password, salt, LANES * WORDS * 4);
    for lane in lanes.chunks_mut(WORDS * 4) {
        mix(lane);
    }
    pbkdf2(password, &lanes, KEY)
}

/// PBKDF2 with HMAC-SHA-256 and one round.
fn pbkdf2(password: &[u8], salt: &[u8], length: usize) -> Vec<u8> {
    let blocks = (1_u32..).map(|i| hmac(password, &[salt, &i.to_be_bytes()].concat()));
    blocks.take(length.div_ceil(32)).flatten().take(length).collect()
}

/// HMAC-SHA-256.
pub(super) fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut block = if key.len() > 64 { Sha256::digest(key).to_vec() } else { key.to_vec() };
    block.resize(64, 0);
    let padded = |mask: u8| block.iter().map(|b| b ^ mask).collect::<Vec<u8>>();
    let inner = Sha256::digest([padded(0x36).as_slice(), message].concat());
    Sha256::digest([padded(0x5c).as_slice(), inner.as_slice()].concat()).to_vec()
}

/// ROMix on one lane.
fn mix(lane: &mut [u8]) {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u32, |word, b| word << 8 | u32::from(*b));
    let mut state: Vec<u32> = lane.chunks(4).map(word).collect();
    let mut memory = Vec::with_capacity(COST * WORDS);
    for _ in 0..COST {
        memory.extend_from_slice(&state);
        state = mix_blocks(&state);
    }
    for _ in 0..COST {
        let at = state.get(WORDS - 16).map_or(0, |word| *word as usize % COST) * WORDS;
        for (word, other) in state.iter_mut().zip(memory.get(at..).unwrap_or_default()) {
            *word ^= other;
        }
        state = mix_blocks(&state);
    }
    for (bytes, word) in lane.chunks_mut(4).zip(&state) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
}

/// BlockMix: even results first, odd ones behind them.
fn mix_blocks(state: &[u32]) -> Vec<u32> {
    let mut current = [0_u32; 16];
    let last = state.len().saturating_sub(16);
    current.iter_mut().zip(state.get(last..).unwrap_or_default()).for_each(|(own, word)| *own = *word);
    let mut out = vec![0; state.len()];
    for (i, block) in state.chunks(16).enumerate() {
        current.iter_mut().zip(block).for_each(|(own, word)| *own ^= word);
        salsa(&mut current);
        let at = (i / 2 + i % 2 * BLOCK) * 16;
        if let Some(place) = out.get_mut(at..at + 16) {
            place.copy_from_slice(&current);
        }
    }
    out
}

/// Columns and rows of Salsa20's quarter rounds.
const QUARTERS: [[usize; 4]; 8] = [
    [0, 4, 8, 12],
    [5, 9, 13, 1],
    [10, 14, 2, 6],
    [15, 3, 7, 11],
    [0, 1, 2, 3],
    [5, 6, 7, 4],
    [10, 11, 8, 9],
    [15, 12, 13, 14],
];

/// Salsa20/8
fn salsa(block: &mut [u32; 16]) {
    let start = *block;
    for _ in 0..4 {
        for [a, b, c, d] in QUARTERS {
            block[b] ^= block[a].wrapping_add(block[d]).rotate_left(7);
            block[c] ^= block[b].wrapping_add(block[a]).rotate_left(9);
            block[d] ^= block[c].wrapping_add(block[b]).rotate_left(13);
            block[a] ^= block[d].wrapping_add(block[c]).rotate_left(18);
        }
    }
    block.iter_mut().zip(start).for_each(|(word, start)| *word = word.wrapping_add(start));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_is_that_of_rfc_4231() {
        let hex: String =
            hmac(b"Jefe", b"what do ya want for nothing?").iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }
}
