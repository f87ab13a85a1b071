//! Detached Ed25519 signatures of policy modules: who vouches for a module, whatever way it came.
//!
//! What is signed is a line that names the purpose, and the SHA-256 of the module. The line keeps a signature for a policy
//! module from passing for one of anything else. A signature file is one line: format, key, signature.
//!
//! ```
//! use toolwarden::signature::{Signature, SigningKey};
//!
//! let key = SigningKey::from_seed(&[7; 32]);
//! let file = key.sign(b"a module").to_string();
//!
//! let signature: Signature = file.parse().unwrap();
//! assert!(signature.verify(b"a module", &[key.public()]).is_ok());
//! assert!(signature.verify(b"another module", &[key.public()]).is_err());
//! ```

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _};
use ed25519_dalek::{Signer as _, VerifyingKey};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// First word of a signature file.
const FORMAT: &str = "toolwarden-signature-v1";

/// What a signature is for; signed together with the module's digest.
const PURPOSE: &[u8] = b"toolwarden policy module v1\n";

/// Prefix of a public key in settings.
const ALGORITHM: &str = "ed25519:";

/// Why a signature or key does not count.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SignatureError {
    /// The text is no public key.
    #[error("`{0}` is no public key; one is written `ed25519:` and 44 characters of base64")]
    NotAKey(String),
    /// The text is no private key.
    #[error("this is no Ed25519 private key in PKCS#8 PEM form: {0}")]
    NotAPrivateKey(String),
    /// The text is no signature.
    #[error("this is no signature file; one is a line of `{FORMAT}`, a key and a signature")]
    NotASignature,
    /// Nobody that counts has signed.
    #[error("it is signed with `{0}`, which is none of the configured keys")]
    UnknownKey(PublicKey),
    /// Somebody signed something else.
    #[error("the signature by `{0}` is not for these bytes")]
    Mismatch(PublicKey),
}

impl SignatureError {
    /// Stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotAKey(_) | Self::NotAPrivateKey(_) => "bad-key",
            Self::NotASignature => "bad-signature-file",
            Self::UnknownKey(_) => "signature-unknown-key",
            Self::Mismatch(_) => "signature-mismatch",
        }
    }
}

/// A public key: whom settings trust. Written `ed25519:<base64>`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ALGORITHM}{}", BASE64_STANDARD.encode(self.0))
    }
}

impl FromStr for PublicKey {
    type Err = SignatureError;

    fn from_str(text: &str) -> Result<Self, SignatureError> {
        let key = text.strip_prefix(ALGORITHM).and_then(|base64| BASE64_STANDARD.decode(base64).ok());
        let key = key.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        key.and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok())
            // With such a key anybody could sign.
            .filter(|key| !key.is_weak())
            .map(|key| Self(key.to_bytes()))
            .ok_or_else(|| SignatureError::NotAKey(toolwarden_text::clip(text, 80).into_owned()))
    }
}

/// A private key.
pub struct SigningKey(ed25519_dalek::SigningKey);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("public", &self.public()).finish_non_exhaustive()
    }
}

impl SigningKey {
    /// The key of a seed. The seed is the secret.
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    /// A key in PKCS#8 PEM form, as `openssl genpkey -algorithm ed25519` writes it.
    ///
    /// # Errors
    ///
    /// [`SignatureError::NotAPrivateKey`].
    pub fn from_pem(pem: &str) -> Result<Self, SignatureError> {
        ed25519_dalek::SigningKey::from_pkcs8_pem(pem)
            .map(Self)
            .map_err(|error| SignatureError::NotAPrivateKey(error.to_string()))
    }

    /// The key in PKCS#8 PEM form.
    ///
    /// # Errors
    ///
    /// [`SignatureError::NotAPrivateKey`] where it cannot be encoded.
    pub fn to_pem(&self) -> Result<String, SignatureError> {
        let pem = self.0.to_pkcs8_pem(LineEnding::LF);
        pem.map(|pem| pem.to_string()).map_err(|error| SignatureError::NotAPrivateKey(error.to_string()))
    }

    /// Its public half.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }

    /// Signs a module.
    #[must_use]
    pub fn sign(&self, module: &[u8]) -> Signature {
        Signature { key: self.public(), signature: self.0.sign(&message(module)) }
    }
}

/// A signature and who says to have made it. As text it is what a signature file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    key: PublicKey,
    signature: ed25519_dalek::Signature,
}

impl Signature {
    /// Whose it is.
    #[must_use]
    pub const fn key(&self) -> PublicKey {
        self.key
    }

    /// Whether one of these keys signed this module.
    ///
    /// # Errors
    ///
    /// [`SignatureError::UnknownKey`], [`SignatureError::Mismatch`].
    pub fn verify(&self, module: &[u8], keys: &[PublicKey]) -> Result<(), SignatureError> {
        if !keys.contains(&self.key) {
            return Err(SignatureError::UnknownKey(self.key));
        }
        let verified =
            VerifyingKey::from_bytes(&self.key.0).and_then(|key| key.verify_strict(&message(module), &self.signature));
        verified.map_err(|_| SignatureError::Mismatch(self.key))
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORMAT} {} {}", self.key, BASE64_STANDARD.encode(self.signature.to_bytes()))
    }
}

impl FromStr for Signature {
    type Err = SignatureError;

    fn from_str(text: &str) -> Result<Self, SignatureError> {
        let mut words = text.split_ascii_whitespace();
        let (format, key, signature, end) = (words.next(), words.next(), words.next(), words.next());
        if format != Some(FORMAT) || end.is_some() {
            return Err(SignatureError::NotASignature);
        }
        let key = key.ok_or(SignatureError::NotASignature)?.parse()?;
        let signature = signature.and_then(|base64| BASE64_STANDARD.decode(base64).ok());
        let signature = signature.and_then(|bytes| ed25519_dalek::Signature::from_slice(&bytes).ok());
        Ok(Self { key, signature: signature.ok_or(SignatureError::NotASignature)? })
    }
}

fn message(module: &[u8]) -> Vec<u8> {
    let mut message = PURPOSE.to_vec();
    message.extend(Sha256::digest(module));
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_counts_for_its_bytes_and_its_key_only() {
        let (ours, other) = (SigningKey::from_seed(&[1; 32]), SigningKey::from_seed(&[2; 32]));
        let signature = ours.sign(b"module");
        assert_eq!(signature.verify(b"module", &[other.public(), ours.public()]), Ok(()));
        assert_eq!(signature.verify(b"modulf", &[ours.public()]), Err(SignatureError::Mismatch(ours.public())));
        assert_eq!(signature.verify(b"module", &[other.public()]), Err(SignatureError::UnknownKey(ours.public())));
        assert_eq!(signature.verify(b"module", &[]), Err(SignatureError::UnknownKey(ours.public())));
        // Who claims another key has not signed with it.
        let forged = Signature { key: other.public(), ..signature };
        assert_eq!(forged.verify(b"module", &[other.public()]), Err(SignatureError::Mismatch(other.public())));
        // The digest alone is signed for no purpose.
        let bare = Signature { key: ours.public(), signature: ours.0.sign(&Sha256::digest(b"module")) };
        assert_eq!(bare.verify(b"module", &[ours.public()]), Err(SignatureError::Mismatch(ours.public())));
    }

    #[test]
    fn texts_come_back_as_they_went() {
        let key = SigningKey::from_seed(&[3; 32]);
        assert_eq!(SigningKey::from_pem(&key.to_pem().unwrap()).unwrap().public(), key.public());
        assert_eq!(key.public().to_string().parse(), Ok(key.public()));
        let signature = key.sign(b"x");
        assert_eq!(format!("{signature}\n").parse(), Ok(signature));
    }

    #[test]
    fn what_is_no_key_or_signature_is_refused() {
        // The neutral point: every signature would be good.
        let weak = format!("ed25519:{}", BASE64_STANDARD.encode([&[1_u8][..], &[0; 31]].concat()));
        for text in ["", "ed25519:", "ed25519:AAAA", "rsa:AAAA", &weak] {
            assert!(matches!(text.parse::<PublicKey>(), Err(SignatureError::NotAKey(_))), "{text}");
        }
        let good = SigningKey::from_seed(&[4; 32]).sign(b"x").to_string();
        for text in ["", "hello", &good.replace("-v1", "-v2"), &format!("{good} more"), &good.replace(' ', "")] {
            assert_eq!(text.parse::<Signature>(), Err(SignatureError::NotASignature), "{text}");
        }
        assert!(good.get(..good.len() - 4).unwrap().parse::<Signature>().is_err());
        assert!(matches!(SigningKey::from_pem("x"), Err(SignatureError::NotAPrivateKey(_))));
    }
}
