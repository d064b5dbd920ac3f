//! Questions that are answered and not stored: access reviews, token reviews, token requests.

use super::{Answer, Content, Request, intake};
use crate::authz::{Reviews, Target};
use crate::cluster::Cluster;
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
    let body = match intake::parse(request) {
        Ok(body) => body,
        Err(status) => return Some(Err(status)),
    };
    let answer = cluster.security.reviews.answer(&request.user, &target, &body)?;
    Some(answer.map(|value| Answer::new(201, Content::Value(value))))
}
