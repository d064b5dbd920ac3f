//! Questions that are answered and not stored: access reviews, token reviews, token requests.

use kubeschema::defaulting::normalise;

use super::{Answer, Content, Request, intake};
use crate::authz::{Reviews, Target};
use crate::cluster::Cluster;
use crate::registry::Resource;
use crate::status::Result;

/// The answer to a review; none if the request is none.
pub(crate) fn review(cluster: &Cluster, request: &Request) -> Option<Result<Answer>> {
    let target = Target {
        group: &request.resource.group,
        resource: &request.resource.plural,
        subresource: &request.subresource,
        namespace: &request.namespace,
        name: &request.name,
    };
    if !Reviews::is_review(&target) || (request.name.is_empty() && !request.subresource.is_empty()) {
        return None;
    }
    let mut body = match intake::parse(request) {
        Ok(body) => body,
        Err(status) => return Some(Err(status)),
    };
    // Empty fields, which protobuf always has, mean nothing. What is of a wrong type stays for the review to refuse.
    let Resource {
        group, version, kind, ..
    } = &*request.resource;
    let (group, version, kind) = match request.subresource.as_str() {
        "token" => ("authentication.k8s.io", "v1", "TokenRequest"),
        _ => (group.as_str(), version.as_str(), kind.as_str()),
    };
    let before = body.clone();
    if normalise(group, version, kind, &mut body).is_err() {
        body = before;
    }
    let answer = cluster.security.reviews.answer(&request.user, &target, &body)?;
    Some(answer.map(|value| Answer::new(201, Content::Value(value))))
}
