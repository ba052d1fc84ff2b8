//! What binds a sign-in to the browser that began it: 32 random bytes in its cookie, from which all else follows.
//!
//! `state` shows that the answer is of this browser's sign-in (RFC 6749, 10.12), `nonce` that the ID token is (OpenID Connect Core,
//! 3.1.2.1), and the verifier that whoever shows the code has begun it (RFC 7636). Each is a hash of its own of the bytes, so none
//! gives away another.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::OpenIdError;
use crate::trust::digest::Fingerprint;
use crate::trust::secret;

/// A sign-in that a browser has begun.
#[derive(Clone)]
pub struct SignInAttempt([u8; 32]);

impl SignInAttempt {
    /// A new one.
    ///
    /// # Errors
    /// Where the kernel gives no random bytes.
    pub fn begin() -> Result<Self, OpenIdError> {
        secret::random().map(Self).map_err(OpenIdError::Random)
    }

    /// As a cookie has it; [`None`] where that is none.
    #[must_use]
    pub fn of_cookie(text: &str) -> Option<Self> {
        URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok().map(Self)
    }

    /// As a cookie.
    #[must_use]
    pub fn cookie(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// What the provider hands back with the code.
    #[must_use]
    pub fn state(&self) -> String {
        self.derived("state")
    }

    /// What the provider puts into the ID token.
    #[must_use]
    pub fn nonce(&self) -> String {
        self.derived("nonce")
    }

    /// What only the browser's hub knows until the code is redeemed.
    #[must_use]
    pub fn verifier(&self) -> String {
        self.derived("verifier")
    }

    /// The SHA-256 of the verifier, which the provider gets first (RFC 7636, 4.2, `S256`).
    #[must_use]
    pub fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier().as_bytes()))
    }

    /// Whether an answer with this `state` is of this sign-in.
    #[must_use]
    pub fn is_answered_by(&self, state: &str) -> bool {
        // Hashes of both are compared, so that the time it takes says nothing of where they differ.
        Fingerprint::of(self.state().as_bytes()) == Fingerprint::of(state.as_bytes())
    }

    fn derived(&self, purpose: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(b"linerate openid ");
        hash.update(purpose.as_bytes());
        hash.update(self.0);
        URL_SAFE_NO_PAD.encode(hash.finalize())
    }
}

impl std::fmt::Debug for SignInAttempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SignInAttempt(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_provider_sees_is_of_one_browser_and_gives_nothing_else_away() {
        let (one, other) = (SignInAttempt::begin().unwrap(), SignInAttempt::begin().unwrap());
        assert!(one.is_answered_by(&one.state()) && !one.is_answered_by(&other.state()) && !one.is_answered_by(""));
        let all = [one.cookie(), one.state(), one.nonce(), one.verifier(), one.challenge()];
        let apart: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(apart.len(), all.len());
        assert!((43..=128).contains(&one.verifier().len()), "RFC 7636, 4.1");
        assert_eq!(SignInAttempt::of_cookie(&one.cookie()).unwrap().state(), one.state());
        for wrong in ["", "short", &"A".repeat(100)] {
            assert!(SignInAttempt::of_cookie(wrong).is_none(), "{wrong}");
        }
        assert!(!format!("{one:?}").contains(&one.cookie()));
    }
}
