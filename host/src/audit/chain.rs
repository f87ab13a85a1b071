//! The chain: each record's hash covers the one before.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::digest::Digest;

/// What is hashed first, so that no other hash passes for one of the chain.
const PURPOSE: &[u8] = b"toolwarden audit record v1\n";

/// Before the first record.
pub(super) const START: Digest = Digest::from_bytes([0; 32]);

/// The hash of a record behind this one.
pub(super) fn then(before: Digest, body: &str) -> Digest {
    Digest::of_parts(&[PURPOSE, before.as_bytes(), body.as_bytes()])
}

/// A record's number and hash: what to keep elsewhere. Written `NUMBER:sha256:HEX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Number of the record; 0 before the first.
    pub seq: u64,
    /// Its hash, and through it that of all before.
    pub hash: Digest,
}

/// A text that is no head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a head is a record's number, `:sha256:` and 64 hexadecimal digits")]
pub struct HeadError;

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for Head {
    type Err = HeadError;

    fn from_str(text: &str) -> Result<Self, HeadError> {
        let (seq, hash) = text.split_once(':').ok_or(HeadError)?;
        let hash = Some(hash).filter(|hash| hash.starts_with("sha256:")).and_then(|hash| hash.parse().ok());
        Ok(Self { seq: seq.parse().map_err(|_| HeadError)?, hash: hash.ok_or(HeadError)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_comes_back_as_it_went_and_depends_on_all_before() {
        let head = Head { seq: 2, hash: then(then(START, "a"), "b") };
        let text = head.to_string();
        assert_eq!(text.parse(), Ok(head));
        assert_ne!(then(then(START, "b"), "a"), head.hash);
        assert_ne!(then(START, "ab"), head.hash);
        for text in ["", "2", "x:sha256:00", &text[1..], &format!("{text}0"), &text.replace("sha256", "md5")] {
            assert_eq!(text.parse::<Head>(), Err(HeadError), "{text}");
        }
    }
}
