//! Hashed passwords and encrypted texts.

use aes::Aes256;
use aes::cipher::block_padding::{NoPadding, Pkcs7};
use aes::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use base64::{alphabet, engine};

use super::encoding::decode_base64;
use super::{Engine, Fault, Func};
use crate::func;
use crate::template::value::GoStr;

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[
    func!(engine "bcrypt", bcrypt),
    func!("decryptAES", decrypt_aes),
    func!(engine "encryptAES", encrypt_aes),
    func!(engine "htpasswd", htpasswd),
];

/// Steps that hashing one password costs.
const HASH_STEPS: u64 = 1 << 16;

/// Rounds of hashing, as a power of two (Go `golang.org/x/crypto/bcrypt` `DefaultCost`).
const COST: u32 = 10;

/// Length of a block and of the vector that a text is encrypted with.
const BLOCK: usize = 16;

/// The salted hash of a password; the error's text when it has more than 72 bytes.
///
/// ```tmpl
/// {{ bcrypt "secret" | regexMatch "^[$]2a[$]10[$][./0-9A-Za-z]{53}$" }} → true
/// ```
fn bcrypt(engine: &mut dyn Engine, password: &[u8]) -> Result<String, Fault> {
    if password.len() > 72 {
        let problem = "bcrypt: password length exceeds 72 bytes";
        return Ok(format!("failed to encrypt string with bcrypt: {problem}"));
    }
    engine.spend(HASH_STEPS)?;
    let mut salt = [0; 16];
    engine.host().random(&mut salt);
    Ok(hash(password, salt))
}

fn hash(password: &[u8], salt: [u8; 16]) -> String {
    const LETTERS: engine::GeneralPurpose =
        engine::GeneralPurpose::new(&alphabet::BCRYPT, engine::general_purpose::NO_PAD);
    // The key is closed by a zero byte; of more than 72 bytes none is looked at.
    let mut key = [password, &[0]].concat();
    key.truncate(72);
    let hash = bcrypt::bcrypt(COST, salt, &key);
    let hash = hash.get(..23).unwrap_or_default();
    format!("$2a${COST}${}{}", LETTERS.encode(salt), LETTERS.encode(hash))
}

/// A line of a password file.
///
/// ```tmpl
/// {{ htpasswd "me" "secret" | regexMatch "^me:[$]2a[$]10[$].{53}$" }} → true
/// ```
fn htpasswd(engine: &mut dyn Engine, user: &str, password: &[u8]) -> Result<String, Fault> {
    if user.contains(':') {
        return Ok(format!("invalid username: {user}"));
    }
    Ok(format!("{user}:{}", bcrypt(engine, password)?))
}

/// The key of a password: its first 32 bytes, filled up with zeros.
fn key(password: &[u8]) -> [u8; 32] {
    let mut key = [0; 32];
    key.iter_mut().zip(password).for_each(|(own, byte)| *own = *byte);
    key
}

/// Encrypts a text with AES-256 in CBC mode, in base 64.
///
/// ```tmpl
/// {{ encryptAES "password" "text" | decryptAES "password" }} → text
/// ```
fn encrypt_aes(engine: &mut dyn Engine, password: &[u8], text: &[u8]) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut start = [0; BLOCK];
    engine.host().random(&mut start);
    let cipher = cbc::Encryptor::<Aes256>::new(&key(password).into(), &start.into());
    let encrypted = cipher.encrypt_padded_vec::<Pkcs7>(text);
    BASE64_STANDARD.encode([start.as_slice(), &encrypted].concat())
}

/// Decrypts what `encryptAES` makes; a wrong password gives anything, or one of Go's runtime errors.
///
/// ```tmpl
/// {{ decryptAES "password" "" | quote }} → ""
/// ```
fn decrypt_aes(password: &[u8], text: &[u8]) -> Result<GoStr, Fault> {
    if text.is_empty() {
        return Ok(GoStr::from(""));
    }
    let bytes =
        decode_base64(text).map_err(|at| Fault::new(format!("illegal base64 data at input byte {at}")))?;
    let Some((start, encrypted)) = bytes.split_at_checked(BLOCK) else {
        let room = text.iter().filter(|b| !matches!(b, b'\r' | b'\n')).count() / 4 * 3;
        let problem = format!("runtime error: slice bounds out of range [:{BLOCK}] with capacity {room}");
        return Err(Fault::new(problem));
    };
    if encrypted.len() % BLOCK != 0 {
        return Err(Fault::new("crypto/cipher: input not full blocks"));
    }
    let start: [u8; BLOCK] = start.try_into().unwrap_or_default();
    let cipher = cbc::Decryptor::<Aes256>::new(&key(password).into(), &start.into());
    let plain = cipher.decrypt_padded_vec::<NoPadding>(encrypted).unwrap_or_default();
    unpadded(&plain).map(GoStr::from)
}

/// A text without as many bytes as its last one says.
fn unpadded(plain: &[u8]) -> Result<&[u8], Fault> {
    let last = plain.last().ok_or_else(|| Fault::new("runtime error: index out of range [-1]"))?;
    let length = plain.len().checked_sub(usize::from(*last));
    length.and_then(|length| plain.get(..length)).ok_or_else(|| {
        let beyond = usize::from(*last) - plain.len();
        Fault::new(format!("runtime error: slice bounds out of range [:-{beyond}]"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_that_of_go() {
        // `htpasswd -nbB -C 10` and Go's bcrypt agree on this one.
        let salt: [u8; 16] = std::array::from_fn(|at| u8::try_from(at).unwrap());
        let text = hash(b"secret", salt);
        assert!(text.starts_with("$2a$10$"), "{text}");
        assert!(::bcrypt::verify("secret", &text).unwrap());
        assert!(!::bcrypt::verify("Secret", &text).unwrap());
    }
}
