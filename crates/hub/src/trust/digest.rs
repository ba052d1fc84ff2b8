//! SHA-256 of what is compared or pinned.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The SHA-256 of a certificate, a key, a token or a record, in hexadecimal where a person reads it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct Fingerprint([u8; LENGTH]);

/// A text that is no fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint has 64 hexadecimal digits")]
pub struct FingerprintError;

impl Fingerprint {
    /// Of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The 32 bytes of the hash.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; LENGTH] {
        &self.0
    }

    /// The first half, which is enough to name what nobody forges.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string().chars().take(LENGTH).collect()
    }
}

impl From<[u8; LENGTH]> for Fingerprint {
    fn from(bytes: [u8; LENGTH]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let mut bytes = [0; LENGTH];
        if text.len() != 2 * LENGTH || !text.is_ascii() {
            return Err(FingerprintError);
        }
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| FingerprintError)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| FingerprintError)?;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = FingerprintError;

    fn try_from(text: String) -> Result<Self, FingerprintError> {
        text.parse()
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        fingerprint.to_string()
    }
}

const LENGTH: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_reads_back_and_other_texts_do_not() {
        let fingerprint = Fingerprint::of(b"abc");
        // FIPS 180-4, the example of three letters.
        assert!(fingerprint.to_string().starts_with("ba7816bf8f01cfea"));
        assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
        let sign = format!("+{}", &fingerprint.to_string()[1..]);
        for text in ["", "ba78", "zz", sign.as_str()] {
            let _ = text.parse::<Fingerprint>();
        }
        assert_eq!("é".repeat(32).parse::<Fingerprint>(), Err(FingerprintError));
    }
}
