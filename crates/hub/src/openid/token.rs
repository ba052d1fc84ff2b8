//! Whether an ID token is the provider's, for this hub, of this sign-in, and of now (OpenID Connect Core, 3.1.3.7).

use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{DecodingKey, Validation, decode, decode_header};
use serde_json::Value;

use super::OpenIdError;
use super::keys;

/// What a token has to be.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// The provider that has signed it.
    pub issuer: &'a str,
    /// Whom it is for.
    pub client_id: &'a str,
    /// The sign-in that it is of.
    pub nonce: &'a str,
}

/// What a token is worth.
#[derive(Debug)]
pub enum Verified {
    /// Claims of the token, none of which is checked beyond those of the standard.
    Claims(Value),
    /// It is signed by a key that is not in the set: the provider may have a new one.
    UnknownKey,
}

/// The claims of an ID token that is what it has to be.
///
/// # Errors
/// Where it is forged, old, of another sign-in or for somebody else.
pub fn verify(token: &str, keys: &JwkSet, expected: &Expected<'_>) -> Result<Verified, OpenIdError> {
    keys::install();
    let refused = |why: &str| OpenIdError::Token(why.to_owned());
    let failed = |error: jsonwebtoken::errors::Error| OpenIdError::Token(error.to_string());
    let header = decode_header(token).map_err(failed)?;
    if !keys::PERMITTED.contains(&header.alg) {
        return Err(refused("it is not signed by a public key"));
    }
    let is_to_sign = |key: &&Jwk| !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption));
    let is_it = |key: &&Jwk| match &header.kid {
        Some(id) => key.common.key_id.as_ref() == Some(id),
        None => DecodingKey::from_jwk(key).is_ok_and(|key| key.family() == header.alg.family()),
    };
    let Some(key) = keys.keys.iter().filter(is_to_sign).find(is_it) else { return Ok(Verified::UnknownKey) };
    let mut validation = Validation::new(header.alg);
    validation.leeway = LEEWAY_S;
    validation.validate_nbf = true;
    validation.set_issuer(&[expected.issuer]);
    validation.set_audience(&[expected.client_id]);
    validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    let claims: Value =
        decode(token, &DecodingKey::from_jwk(key).map_err(failed)?, &validation).map_err(failed)?.claims;
    if claims["nonce"].as_str() != Some(expected.nonce) {
        return Err(refused("it is of another sign-in"));
    }
    let is_shared = claims["aud"].as_array().is_some_and(|audience| audience.len() > 1);
    let party = claims.get("azp").and_then(Value::as_str);
    if party.map_or(is_shared, |party| party != expected.client_id) {
        return Err(refused("it was given to somebody else"));
    }
    Ok(Verified::Claims(claims))
}

/// How far the clocks of provider and hub may be apart.
const LEEWAY_S: u64 = 60;

#[cfg(test)]
mod tests {
    use std::time::{SystemTime, UNIX_EPOCH};

    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use ring::hmac;
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
    use serde_json::json;

    use super::*;

    /// A provider's key.
    struct Signer(EcdsaKeyPair);

    impl Signer {
        fn new() -> Self {
            let random = SystemRandom::new();
            let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
            Self(EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random).unwrap())
        }

        fn keys(&self) -> JwkSet {
            let point = self.0.public_key().as_ref();
            let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
            let key = json!({ "kty": "EC", "crv": "P-256", "kid": "one", "use": "sig", "x": x, "y": y });
            serde_json::from_value(json!({ "keys": [key] })).unwrap()
        }

        fn sign(&self, header: &Value, claims: &Value) -> String {
            let message = unsigned(header, claims);
            let signature = self.0.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
            format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
        }
    }

    fn unsigned(header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}", part(header), part(claims))
    }

    fn now() -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
    }

    fn header() -> Value {
        json!({ "alg": "ES256", "kid": "one", "typ": "JWT" })
    }

    fn claims() -> Value {
        json!({ "iss": "https://login.example.net", "aud": "linerate", "sub": "1", "exp": now() + 300, "iat": now(), "nonce": "n" })
    }

    /// Good claims but for one.
    fn with(name: &str, value: Value) -> Value {
        let mut claims = claims();
        claims[name] = value;
        claims
    }

    const EXPECTED: Expected<'static> =
        Expected { issuer: "https://login.example.net", client_id: "linerate", nonce: "n" };

    #[test]
    fn a_token_of_the_provider_for_this_hub_and_sign_in_counts() {
        let signer = Signer::new();
        let good = [
            claims(),
            with("aud", json!(["linerate"])),
            with("azp", json!("linerate")),
            with("exp", json!(now() - 30)),
        ];
        for claims in good {
            let verified = verify(&signer.sign(&header(), &claims), &signer.keys(), &EXPECTED).unwrap();
            assert!(matches!(verified, Verified::Claims(read) if read == claims));
        }
        let nameless = json!({ "alg": "ES256" });
        assert!(verify(&signer.sign(&nameless, &claims()), &signer.keys(), &EXPECTED).is_ok(), "one key needs no name");
    }

    #[test]
    fn what_is_old_for_others_of_another_sign_in_or_incomplete_is_refused() {
        let signer = Signer::new();
        for (name, value) in [
            ("exp", json!(now() - 3_600)),
            ("exp", json!(null)),
            ("exp", json!("tomorrow")),
            ("nbf", json!(now() + 3_600)),
            ("iss", json!("https://evil.example")),
            ("iss", json!(null)),
            ("aud", json!("another")),
            ("aud", json!([])),
            ("aud", json!(null)),
            ("aud", json!(["linerate", "another"])),
            ("azp", json!("another")),
            ("sub", json!(null)),
            ("nonce", json!("of another sign-in")),
            ("nonce", json!(null)),
        ] {
            let token = signer.sign(&header(), &with(name, value.clone()));
            let refused = verify(&token, &signer.keys(), &EXPECTED);
            assert!(matches!(refused, Err(OpenIdError::Token(_))), "{name} {value}: {refused:?}");
        }
    }

    #[test]
    fn what_the_provider_has_not_signed_is_refused() {
        let (signer, other) = (Signer::new(), Signer::new());
        let keys = signer.keys();
        let public = signer.0.public_key().as_ref();
        let good = signer.sign(&header(), &claims());
        let altered = {
            let [head, _, signature]: [&str; 3] = good.split('.').collect::<Vec<_>>().try_into().unwrap();
            format!("{head}.{}.{signature}", URL_SAFE_NO_PAD.encode(with("sub", json!("2")).to_string()))
        };
        // The public key as if it were a secret that both share.
        let mac = |algorithm: &str| {
            let message = unsigned(&json!({ "alg": algorithm, "kid": "one" }), &claims());
            let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, public), message.as_bytes());
            format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref()))
        };
        let bare = |algorithm: &str| format!("{}.", unsigned(&json!({ "alg": algorithm, "kid": "one" }), &claims()));
        let forged = [
            other.sign(&header(), &claims()),
            altered,
            mac("HS256"),
            bare("none"),
            bare("ES256"),
            bare("RS256"),
            signer.sign(&json!({ "alg": "RS256", "kid": "one" }), &claims()),
            signer.sign(&json!({ "alg": "ES384", "kid": "one" }), &claims()),
            good.replace('.', ""),
            String::new(),
            "a.b.c".to_owned(),
            format!("{good}.more"),
        ];
        for token in forged {
            let refused = verify(&token, &keys, &EXPECTED);
            assert!(matches!(refused, Err(OpenIdError::Token(_))), "{token}: {refused:?}");
        }
        let unknown = signer.sign(&json!({ "alg": "ES256", "kid": "two" }), &claims());
        assert!(matches!(verify(&unknown, &keys, &EXPECTED), Ok(Verified::UnknownKey)));
        let to_encrypt =
            json!({ "keys": [{ "kty": "EC", "crv": "P-256", "kid": "one", "use": "enc", "x": "AA", "y": "AA" }] });
        let to_encrypt: JwkSet = serde_json::from_value(to_encrypt).unwrap();
        assert!(matches!(verify(&good, &to_encrypt, &EXPECTED), Ok(Verified::UnknownKey)));
    }
}
