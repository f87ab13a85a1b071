//! Bodies that are not longer than they may be.

use bytes::{Buf as _, Bytes, BytesMut};
use http::Response;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use super::announced;
use crate::mcp::error::WireError;

/// The whole body. One that is too long is refused as soon as that is known.
pub(super) async fn whole(response: Response<Incoming>, limit: usize) -> Result<Bytes, WireError> {
    let too_large = || WireError::TooLarge { limit };
    if announced(&response).is_some_and(|length| length > limit as u64) {
        return Err(too_large());
    }
    let mut body = response.into_body();
    let mut whole = BytesMut::new();
    while let Some(piece) = next(&mut body).await? {
        if whole.len() + piece.remaining() > limit {
            return Err(too_large());
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.freeze())
}

/// The next piece of a body; none at its end. A body that breaks off is no answer.
pub(super) async fn next(body: &mut Incoming) -> Result<Option<Bytes>, WireError> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Err(_)) => return Err(WireError::NoAnswer),
            Some(Ok(frame)) => {
                if let Ok(piece) = frame.into_data() {
                    return Ok(Some(piece));
                }
            }
        }
    }
}
