//! Passwords of people, and what the hub keeps of them: Argon2id (RFC 9106) with 19 MiB and two passes, the least that OWASP's
//! Password Storage Cheat Sheet recommends.

use std::fmt;
use std::io;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash as Phc;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};

use super::secret;

/// A password in clear, never shown.
#[derive(Clone)]
pub struct Password(String);

/// A text that is no password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// It is guessed too soon.
    #[error("a password has at least {SHORTEST} characters")]
    Short,
    /// It costs too much to read.
    #[error("a password has at most {LONGEST} bytes")]
    Long,
}

/// What is kept of a password: a PHC string, with its salt and its cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl Password {
    /// A password that somebody chooses.
    ///
    /// # Errors
    /// Where it is too short or too long.
    pub fn chosen(text: String) -> Result<Self, PasswordError> {
        if text.chars().count() < SHORTEST {
            return Err(PasswordError::Short);
        }
        Self::shown(text)
    }

    /// A password that somebody shows to sign in.
    ///
    /// # Errors
    /// Where it is too long.
    pub fn shown(text: String) -> Result<Self, PasswordError> {
        if text.len() > LONGEST { Err(PasswordError::Long) } else { Ok(Self(text)) }
    }

    /// 128 random bits as words that a person can read out.
    ///
    /// # Errors
    /// Where the kernel has no random bytes.
    pub fn random() -> io::Result<Self> {
        let bytes: [u8; 16] = secret::random()?;
        let groups: Vec<String> =
            bytes.chunks(4).map(|group| group.iter().map(|byte| format!("{byte:02x}")).collect()).collect();
        Ok(Self(groups.join("-")))
    }

    /// The text, to print it once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

impl PasswordHash {
    /// Of a password, with a salt of its own. Takes 19 MiB and some tens of milliseconds.
    ///
    /// # Errors
    /// Where the kernel has no random bytes.
    pub fn of(password: &Password) -> io::Result<Self> {
        let salt: [u8; 16] = secret::random()?;
        let hash = Argon2::default().hash_password_with_salt(password.0.as_bytes(), &salt);
        hash.map(|hash| Self(hash.to_string())).map_err(|error| io::Error::other(error.to_string()))
    }

    /// Whether it is of this password. Takes the same time for each.
    #[must_use]
    pub fn is_of(&self, password: &Password) -> bool {
        let hash = Phc::new(&self.0);
        hash.is_ok_and(|hash| Argon2::default().verify_password(password.0.as_bytes(), &hash).is_ok())
    }

    /// Of a password that nobody knows, to look at where there is no account.
    #[must_use]
    pub fn of_nobody() -> Self {
        Self(NOBODY.to_owned())
    }

    /// As a database keeps it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// As a database has kept it.
    #[must_use]
    pub const fn kept(text: String) -> Self {
        Self(text)
    }
}

/// Its sum is no hash of anything that was ever tried.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5bm9ib2R5bm9ib2R5$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const SHORTEST: usize = 12;
const LONGEST: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_knows_its_password_and_no_other_and_hides_it() {
        let password = Password::chosen("correct horse battery".to_owned()).unwrap();
        let hash = PasswordHash::of(&password).unwrap();
        assert!(hash.text().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.text());
        assert!(PasswordHash::kept(hash.text().to_owned()).is_of(&password));
        assert!(!hash.is_of(&Password::shown("correct horse batterx".to_owned()).unwrap()));
        assert_ne!(PasswordHash::of(&password).unwrap(), hash, "each has a salt of its own");
        assert!(!PasswordHash::of_nobody().is_of(&password));
        assert!(!PasswordHash::kept("no hash".to_owned()).is_of(&password));
        assert!(!format!("{password:?}").contains("horse"));
    }

    #[test]
    fn short_and_endless_passwords_are_refused() {
        assert_eq!(Password::chosen("elevenchars".to_owned()).unwrap_err(), PasswordError::Short);
        assert_eq!(Password::shown("x".repeat(1_001)).unwrap_err(), PasswordError::Long);
        assert_eq!(Password::random().unwrap().reveal().len(), 35);
    }
}
