//! What a person carries from the hub to an agent, or keeps for a script.
//!
//! `lr1_PURPOSE_SECRET_AUTHORITY`: the secret opens, the fingerprint says whom to trust. The hub keeps the SHA-256 of the
//! secret alone, which is enough since the secret is 256 random bits and not a word that somebody chose.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::digest::Fingerprint;

/// A token in clear. It is printed once and stored nowhere at the hub.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is for.
    pub purpose: Purpose,
    /// What opens.
    pub secret: Secret,
    /// The authority of the hub that it is for.
    pub authority: Fingerprint,
}

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// An agent joins with it, once.
    Join,
    /// A person or script reads.
    View,
    /// A person or script reads, starts runs, and acknowledges, notes and closes incidents.
    Operate,
    /// A pScheduler of perfSONAR delivers results with it, and reads nothing.
    Archive,
}

/// 256 random bits that are never shown but by [`Token`]'s text form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret([u8; 32]);

/// A text that is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no token of a hub: one starts with `lr1_`, and `linerate hub token` prints it in one piece")]
pub struct TokenError;

impl Secret {
    /// From random bytes.
    #[must_use]
    pub const fn new(random: [u8; 32]) -> Self {
        Self(random)
    }

    /// What the hub keeps of it.
    #[must_use]
    pub fn hash(&self) -> Fingerprint {
        Fingerprint::of(&self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("purpose", &self.purpose).finish_non_exhaustive()
    }
}

impl Purpose {
    const ALL: [Self; 4] = [Self::Join, Self::View, Self::Operate, Self::Archive];

    /// In a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Join => "join",
            Self::View => "view",
            Self::Operate => "operate",
            Self::Archive => "archive",
        }
    }
}

impl FromStr for Purpose {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        Self::ALL.into_iter().find(|purpose| purpose.name() == text).ok_or(TokenError)
    }
}

impl Token {
    /// The text that a person carries. Never goes to a log.
    #[must_use]
    pub fn reveal(&self) -> String {
        let secret: Fingerprint = self.secret.0.into();
        format!("lr1_{}_{secret}_{}", self.purpose.name(), self.authority)
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let parts: Vec<&str> = text.trim().split('_').collect();
        let ["lr1", purpose, secret, authority] = parts[..] else { return Err(TokenError) };
        let secret: Fingerprint = secret.parse().map_err(|_| TokenError)?;
        Ok(Self {
            purpose: purpose.parse()?,
            secret: Secret(*secret.bytes()),
            authority: authority.parse().map_err(|_| TokenError)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_reads_back_and_debug_hides_the_secret() {
        let token =
            Token { purpose: Purpose::Join, secret: Secret::new([7; 32]), authority: Fingerprint::of(b"authority") };
        let text = token.reveal();
        assert_eq!(text.parse(), Ok(token.clone()));
        assert!(!format!("{token:?}").contains("0707"));
        for broken in [text.replace("join", "root"), text[..text.len() - 1].to_owned(), text.replace("lr1", "lr2")] {
            assert_eq!(broken.parse::<Token>(), Err(TokenError));
        }
    }
}
