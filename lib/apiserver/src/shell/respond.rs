//! HTTP responses: status code, headers, body or stream, compression.

use std::convert::Infallible;
use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::{Stream, StreamExt};
use http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, VARY, WARNING,
};
use http::{HeaderMap, Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use serde_json::Value;

use super::negotiate::Encoding;
use crate::status::Status;

/// An answer's body.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Bodies from this size on are compressed for clients that ask.
const LARGE: usize = 128 * 1024;

/// A body of JSON text, written as the client wants it.
pub(super) fn json(code: u16, json: Vec<u8>, encoding: Encoding) -> Response<Body> {
    match encoding {
        Encoding::Json => bytes(code, "application/json", json),
        Encoding::Yaml => {
            let value: Value = serde_json::from_slice(&json).unwrap_or_default();
            let text = goyaml::to_yaml(&value).unwrap_or_default();
            bytes(code, "application/yaml", text.into_bytes())
        }
    }
}

/// A body of a content type.
pub(super) fn bytes(code: u16, content_type: &str, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Full::new(body.into()).boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(content_type) {
        headers.insert(CONTENT_TYPE, value);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// No body at all.
pub(super) fn empty(code: u16) -> Response<Body> {
    let mut response = Response::new(Body::default());
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
}

/// A body that comes piece by piece.
pub(super) fn stream(content_type: &'static str, chunks: impl Stream<Item = Bytes> + Send + 'static) -> Response<Body> {
    let frames = chunks.map(|chunk| Ok::<_, Infallible>(Frame::data(chunk)));
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// A refusal.
pub(super) fn refusal(status: &Status, encoding: Encoding) -> Response<Body> {
    let mut response = json(status.code, status.to_value().to_string().into_bytes(), encoding);
    warn(&mut response, &status.warnings);
    if let Some(seconds) = status.details.as_ref().and_then(|details| details.retry_after) {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// Adds `Warning` headers.
pub(super) fn warn(response: &mut Response<Body>, warnings: &[String]) {
    for warning in fitting(warnings) {
        let text = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{text}\"")) {
            response.headers_mut().append(WARNING, value);
        }
    }
}

/// Warnings as they are sent: if there is too much to say, all are cut, and the last ones left out.
fn fitting(warnings: &[String]) -> Vec<String> {
    const ALL: usize = 4096;
    const ONE: usize = 256;
    let length = |text: &String| text.chars().count();
    if warnings.iter().map(length).sum::<usize>() <= ALL {
        return warnings.to_vec();
    }
    let mut sent = 0;
    warnings
        .iter()
        .map(|warning| warning.chars().take(ONE).collect::<String>())
        .take_while(|warning| {
            let room = sent < ALL;
            sent += length(warning);
            room
        })
        .collect()
}

/// Sets a header whose value is text of our own.
pub(super) fn header(response: &mut Response<Body>, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(HeaderName::from_static(name), value);
    }
}

/// Whether a client takes gzip.
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers
        .get_all(http::header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok());
    accepted
        .flat_map(|text| text.split(','))
        .any(|part| part.split(';').next().is_some_and(|name| name.trim() == "gzip"))
}

/// JSON text in gzip if it is large and the client takes it.
pub(super) fn compressed(code: u16, json: Vec<u8>, encoding: Encoding, gzip: bool) -> Response<Body> {
    if !gzip || json.len() < LARGE || encoding == Encoding::Yaml {
        return self::json(code, json, encoding);
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(json.len() / 4), Compression::new(1));
    let packed = encoder.write_all(&json).and_then(|()| encoder.finish());
    let Ok(packed) = packed else {
        return self::json(code, json, encoding);
    };
    let mut response = bytes(code, "application/json", packed);
    response
        .headers_mut()
        .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response
        .headers_mut()
        .insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_warnings_are_cut_and_the_last_left_out() {
        let warnings = |count: usize, length: usize| vec!["x".repeat(length); count];
        let sent = |count, length| {
            let sent = fitting(&warnings(count, length));
            (sent.len(), sent.first().map_or(0, String::len))
        };
        assert_eq!(sent(30, 125), (30, 125));
        assert_eq!(sent(40, 115), (36, 115));
        assert_eq!(sent(20, 327), (16, 256));
        assert_eq!(sent(2, 300), (2, 300), "there is room for both");
    }
}
