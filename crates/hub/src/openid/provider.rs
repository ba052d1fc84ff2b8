//! What the provider says of itself (OpenID Connect Discovery 1.0), its keys, and what is asked of it.

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::jwk::JwkSet;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::OpenIdError;
use super::attempt::SignInAttempt;
use super::http::{Client, Reply, Sent};
use super::identity::{self, Identity};
use super::settings::{OpenIdSettings, is_protected};
use super::token::{Expected, Verified, verify};

/// The provider that the settings name.
#[derive(Debug)]
pub struct Provider {
    settings: OpenIdSettings,
    secret: Option<ClientSecret>,
    client: Client,
    known: Mutex<Option<KnownProvider>>,
}

/// Never shown.
struct ClientSecret(String);

impl std::fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClientSecret(..)")
    }
}

/// What was heard of it last.
#[derive(Debug, Clone)]
struct KnownProvider {
    document: Document,
    keys: JwkSet,
    at: Instant,
}

/// What a provider publishes at `/.well-known/openid-configuration`.
#[derive(Debug, Clone, Deserialize)]
struct Document {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    #[serde(default)]
    userinfo_endpoint: Option<String>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

/// What a code is redeemed for. Never shown.
#[derive(Deserialize)]
struct TokenReply {
    id_token: String,
    #[serde(default)]
    access_token: Option<String>,
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
    #[serde(default)]
    error_description: Option<String>,
}

/// What the browser brings back, and where it was sent to.
#[derive(Debug, Clone, Copy)]
pub struct Returned<'a> {
    /// The authorization code.
    pub code: &'a str,
    /// The address of the hub that the provider has sent the browser to, as it was asked to.
    pub redirect_uri: &'a str,
}

impl Provider {
    /// Of the settings; nothing is asked yet.
    ///
    /// # Errors
    /// Where the settings cannot be used: an issuer without TLS, a secret that others can read, authorities that are none.
    pub fn new(settings: OpenIdSettings, directory: &Path) -> io::Result<Self> {
        if !is_protected(&settings.issuer) {
            return Err(io::Error::other(format!("issuer {} has to begin with https://", settings.issuer)));
        }
        let secret = settings.secret(directory)?.map(ClientSecret);
        let authorities = settings.ca_file.as_ref().map(|file| directory.join(file));
        Ok(Self { secret, client: Client::new(authorities.as_deref())?, settings, known: Mutex::default() })
    }

    /// What pages call it.
    #[must_use]
    pub fn title(&self) -> String {
        self.settings.shown_title()
    }

    /// Where a browser goes to sign in.
    ///
    /// # Errors
    /// Where the provider does not say.
    pub fn sign_in_address(&self, attempt: &SignInAttempt, redirect_uri: &str) -> Result<String, OpenIdError> {
        let endpoint = self.known()?.document.authorization_endpoint;
        let scope = std::iter::once("openid").chain(self.settings.scopes.iter().map(String::as_str));
        let scope = scope.collect::<Vec<_>>().join(" ");
        let fields = form(&[
            ("response_type", "code"),
            ("client_id", &self.settings.client_id),
            ("redirect_uri", redirect_uri),
            ("scope", &scope),
            ("state", &attempt.state()),
            ("nonce", &attempt.nonce()),
            ("code_challenge", &attempt.challenge()),
            ("code_challenge_method", "S256"),
        ]);
        Ok(format!("{endpoint}{}{fields}", if endpoint.contains('?') { '&' } else { '?' }))
    }

    /// Who has signed in.
    ///
    /// # Errors
    /// Where the provider refuses the code, its token is not what it has to be, or its claims give no role.
    pub fn identity(&self, attempt: &SignInAttempt, returned: &Returned<'_>) -> Result<Identity, OpenIdError> {
        let known = self.known()?;
        let TokenReply { id_token: token, access_token } = self.redeem(&known.document, attempt, returned)?;
        let nonce = attempt.nonce();
        let expected = Expected { issuer: &known.document.issuer, client_id: &self.settings.client_id, nonce: &nonce };
        let verified = match verify(&token, &known.keys, &expected)? {
            // Keys of a provider change; whoever shows a key that nobody has makes it asked no more than once a minute.
            Verified::UnknownKey => verify(&token, &self.fresh(NEW_KEYS)?.keys, &expected)?,
            verified @ Verified::Claims(_) => verified,
        };
        match verified {
            Verified::Claims(claims) => {
                let claims = self.completed(claims, &known.document, access_token.as_deref())?;
                Identity::of(&claims, &self.settings)
            }
            Verified::UnknownKey => {
                Err(OpenIdError::Token("it is signed by a key that the provider does not have".to_owned()))
            }
        }
    }

    /// The claims of an ID token, and those of the userinfo endpoint where it lacks the name or the role: many providers keep
    /// groups out of the token (OpenID Connect Core, 5.3).
    fn completed(&self, claims: Value, document: &Document, token: Option<&str>) -> Result<Value, OpenIdError> {
        let (Some(url), Some(token)) = (&document.userinfo_endpoint, token) else { return Ok(claims) };
        if identity::has_name_and_role(&claims, &self.settings) {
            return Ok(claims);
        }
        let reply = self.client.ask(url, Sent::Bearer(token)).map_err(|error| self.unusable(&error))?;
        let info = self.json(url, &reply)?;
        identity::with_userinfo(claims, info)
    }

    /// Redeems a code for an ID token.
    fn redeem(
        &self,
        document: &Document,
        attempt: &SignInAttempt,
        returned: &Returned<'_>,
    ) -> Result<TokenReply, OpenIdError> {
        let verifier = attempt.verifier();
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", returned.code),
            ("redirect_uri", returned.redirect_uri),
            ("code_verifier", verifier.as_str()),
        ];
        let methods = document.token_endpoint_auth_methods_supported.as_deref();
        // Basic is what a provider takes that says nothing (OpenID Connect Discovery, 3).
        let is_basic = methods.is_none_or(|methods| methods.iter().any(|method| method == "client_secret_basic"));
        let mut authorization = None;
        let client_id = &self.settings.client_id;
        match &self.secret {
            Some(ClientSecret(secret)) if is_basic => {
                let pair = format!("{}:{}", encoded(client_id), encoded(secret));
                authorization = Some(format!("Basic {}", STANDARD.encode(pair)));
            }
            Some(ClientSecret(secret)) => fields.extend([("client_id", client_id.as_str()), ("client_secret", secret)]),
            None => fields.push(("client_id", client_id)),
        }
        let sent = Sent::Form { fields: &form(&fields), authorization: authorization.as_deref() };
        let reply = self.client.ask(&document.token_endpoint, sent).map_err(|error| self.unusable(&error))?;
        if reply.status == 200 {
            return serde_json::from_slice(&reply.body).map_err(|_| self.unusable(&"it gives no ID token"));
        }
        let refusal: Result<Refusal, _> = serde_json::from_slice(&reply.body);
        match refusal {
            Ok(Refusal { error, error_description }) => Err(OpenIdError::Refused(shown(
                &[Some(error), error_description].into_iter().flatten().collect::<Vec<_>>().join(": "),
            ))),
            Err(_) => Err(self.unusable(&format_args!("its token endpoint answers {}", reply.status))),
        }
    }

    fn known(&self) -> Result<KnownProvider, OpenIdError> {
        self.fresh(REMEMBERED)
    }

    /// What it says of itself, no older than some time.
    fn fresh(&self, no_older_than: Duration) -> Result<KnownProvider, OpenIdError> {
        let last = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = last.filter(|known| known.at.elapsed() < no_older_than) {
            return Ok(known);
        }
        let issuer = self.settings.issuer.trim_end_matches('/');
        let document: Document = self.document(&format!("{issuer}/.well-known/openid-configuration"))?;
        // Who answers for somebody else would have its tokens taken for those of the other (Discovery, 4.3).
        if document.issuer != self.settings.issuer {
            return Err(self.unusable(&format_args!("it calls itself {}", shown(&document.issuer))));
        }
        let endpoints = [&document.authorization_endpoint, &document.token_endpoint, &document.jwks_uri];
        if let Some(open) = endpoints.into_iter().chain(&document.userinfo_endpoint).find(|url| !is_protected(url)) {
            return Err(self.unusable(&format_args!("{} is not protected by TLS", shown(open))));
        }
        let keys = self.document(&document.jwks_uri)?;
        let known = KnownProvider { document, keys, at: Instant::now() };
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(known.clone());
        Ok(known)
    }

    fn document<T: DeserializeOwned>(&self, url: &str) -> Result<T, OpenIdError> {
        let reply = self.client.ask(url, Sent::Nothing).map_err(|error| self.unusable(&error))?;
        self.json(url, &reply)
    }

    fn json<T: DeserializeOwned>(&self, url: &str, reply: &Reply) -> Result<T, OpenIdError> {
        if reply.status != 200 {
            return Err(self.unusable(&format_args!("{url} answers {}", reply.status)));
        }
        serde_json::from_slice(&reply.body).map_err(|error| self.unusable(&format_args!("{url}: {error}")))
    }

    fn unusable(&self, why: &dyn std::fmt::Display) -> OpenIdError {
        OpenIdError::Provider { issuer: self.settings.issuer.clone(), why: why.to_string() }
    }
}

/// Fields of a form (WHATWG URL, application/x-www-form-urlencoded).
fn form(fields: &[(&str, &str)]) -> String {
    fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
}

fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// What a stranger says, on its way to a page or a log.
fn shown(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(200).collect()
}

/// How long its addresses and keys are taken for those that it has.
const REMEMBERED: Duration = Duration::from_secs(3_600);
const NEW_KEYS: Duration = Duration::from_secs(60);
