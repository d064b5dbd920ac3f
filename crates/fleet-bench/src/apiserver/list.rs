//! A complete listing in pages, as controllers that start do.

use std::io::Read as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;

use crate::client::Asked;
use crate::side::{Side, objects};

/// Objects of a page, what kubectl and client-go ask for.
pub(super) const PAGE: u64 = 500;

/// Lists everything; the time it took.
pub(super) async fn complete(side: &Side, expected: u64, gzip: bool) -> Result<Duration> {
    let mut connection = side.user.connect().await?;
    let begin = Instant::now();
    let mut listed = 0;
    let mut next = String::new();
    loop {
        let path = format!("{}?limit={PAGE}&continue={next}", objects());
        let asked = Asked {
            gzip,
            ..Asked::get(&path)
        };
        let body = connection.must(asked).await?;
        let body = if gzip { unpacked(&body)? } else { body };
        listed += count(&body);
        match token(&body) {
            Some(token) => token.clone_into(&mut next),
            None => break,
        }
    }
    let took = begin.elapsed();
    if listed != expected {
        bail!("{} lists {listed} objects instead of {expected}", side.name);
    }
    Ok(took)
}

fn unpacked(body: &Bytes) -> Result<Bytes> {
    if !body.starts_with(&[0x1f, 0x8b]) {
        return Ok(body.clone());
    }
    let mut text = Vec::with_capacity(body.len() * 8);
    flate2::read::GzDecoder::new(&**body)
        .read_to_end(&mut text)
        .context("unpack a page")?;
    Ok(text.into())
}

/// Objects of a page, without reading it as JSON: the client is not what is measured.
fn count(body: &[u8]) -> u64 {
    memchr::memmem::find_iter(body, b"\"uid\":\"").count() as u64
}

/// The page's `metadata.continue`, which stands in the first few hundred bytes.
fn token(body: &[u8]) -> Option<&str> {
    let head = std::str::from_utf8(body.get(..body.len().min(600))?).ok().or_else(|| {
        // The cut may have fallen into a character.
        std::str::from_utf8(body.get(..597)?).ok()
    })?;
    let (_, rest) = head.split_once("\"continue\":\"")?;
    let (token, _) = rest.split_once('"')?;
    (!token.is_empty()).then_some(token)
}
