//! People sign in by a provider of OpenID Connect: authorization code with PKCE (OpenID Connect Core 1.0, RFC 7636, RFC 9700).
//!
//! * [`settings`]: `[openid]` of `hub.toml`
//! * [`attempt`]: what binds a sign-in to the browser that began it
//! * [`provider`]: what the provider says of itself, and its keys
//! * [`identity`]: who somebody is and which role that gives, from the claims of an ID token and of the userinfo endpoint
//! * `token`: whether an ID token is the provider's, for this hub, and of now
//! * `keys`: signatures, by `ring`
//! * `http`: requests to the provider
//!
//! The hub keeps nothing between the two halves of a sign-in, so that any of several hubs can end what another has begun.

pub mod attempt;
mod http;
pub mod identity;
mod keys;
pub mod provider;
pub mod settings;
pub mod token;

/// Why nobody is signed in. No text has a secret, a code or a token in it.
#[derive(Debug, thiserror::Error)]
pub enum OpenIdError {
    /// The provider does not answer, or not as it should.
    #[error("the provider {issuer} cannot be used: {why}")]
    Provider {
        /// Issuer of the settings.
        issuer: String,
        /// What is wrong.
        why: String,
    },
    /// The provider says no.
    #[error("the provider refuses: {0}")]
    Refused(String),
    /// This browser has begun nothing that this would end.
    #[error("this browser has begun no such sign-in, or more than 10 minutes ago")]
    NotBegun,
    /// The ID token is forged, old, of another sign-in or for somebody else.
    #[error("the ID token of the provider is refused: {0}")]
    Token(String),
    /// The claims give no name or no role.
    #[error("{0}")]
    Claims(String),
    /// The kernel gives no random bytes.
    #[error("no random bytes")]
    Random(#[source] std::io::Error),
}

impl OpenIdError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Provider { .. } => "try again; an admin looks at [openid] of hub.toml and at the log of the hub",
            Self::Refused(_) | Self::NotBegun => "begin again from the page of the hub",
            Self::Token(_) => {
                "begin again; where it stays so, an admin compares issuer, client_id and the clocks of both hosts"
            }
            Self::Claims(_) => {
                "an admin of the provider or of the hub gives a role: [openid] of hub.toml maps claims to roles"
            }
            Self::Random(_) => "try again",
        }
    }
}
