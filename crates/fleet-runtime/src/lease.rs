//! Leader election over a Lease, as client-go's: a program in Go and this one never both lead.
//! The holder renews; others wait until the record has not changed for a whole lease duration
//! by their own clock (the record's times are not trusted). Losing the lease ends the process.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff;
use kube::Api;
use kube::api::PostParams;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::env;
use crate::error::{Error, ResultExt};

/// Who elects, and how fast.
#[derive(Clone, Debug)]
pub struct Election {
    /// Name of the Lease.
    pub name: String,
    /// Namespace of the Lease.
    pub namespace: String,
    /// This candidate.
    pub identity: String,
    /// Validity without renewal.
    pub duration: Duration,
    /// How long renewal may fail.
    pub deadline: Duration,
    /// Time between attempts.
    pub retry: Duration,
}

impl Election {
    /// An election with the times of the environment.
    #[must_use]
    pub fn from_env(namespace: &str, name: &str, identity: String) -> Self {
        Self {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            identity,
            duration: env::duration(env::LEASE_DURATION, Duration::from_secs(30)),
            deadline: env::duration(env::RENEW_DEADLINE, Duration::from_secs(25)),
            retry: env::duration(env::RETRY_PERIOD, Duration::from_secs(10)),
        }
    }

    /// Waits until this candidate leads. `None` if `shutdown` came first.
    pub async fn lead(self, client: kube::Client, shutdown: &CancellationToken) -> Option<Leadership> {
        let api = Api::namespaced(client, &self.namespace);
        let mut seen: Option<(Option<LeaseSpec>, Instant)> = None;
        loop {
            match self.attempt(&api, &mut seen).await {
                Ok(true) => return Some(Leadership { election: self, api }),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(lease = self.name, error = crate::chain(&error), "cannot take the lease");
                }
            }
            tokio::select! {
                () = shutdown.cancelled() => return None,
                () = tokio::time::sleep(self.retry) => {}
            }
        }
    }

    async fn attempt(&self, api: &Api<Lease>, seen: &mut Option<(Option<LeaseSpec>, Instant)>) -> Result<bool, Error> {
        let what = || format!("lease '{}/{}'", self.namespace, self.name);
        let Some(mut lease) = api.get_opt(&self.name).await.doing("get", what)? else {
            let mut lease = Lease::default();
            lease.metadata.name = Some(self.name.clone());
            lease.spec = Some(self.record(None));
            return match api.create(&PostParams::default(), &lease).await.doing("create", what) {
                Ok(_) => Ok(true),
                Err(error) if error.is_already_exists() => Ok(false),
                Err(error) => Err(error),
            };
        };
        if seen.as_ref().is_none_or(|(record, _)| *record != lease.spec) {
            *seen = Some((lease.spec.clone(), Instant::now()));
        }
        let since = seen.as_ref().map_or_else(Instant::now, |(_, since)| *since);
        if !may_take(lease.spec.as_ref(), &self.identity, since.elapsed(), self.duration) {
            return Ok(false);
        }
        lease.spec = Some(self.record(lease.spec.as_ref()));
        match api
            .replace(&self.name, &PostParams::default(), &lease)
            .await
            .doing("take", what)
        {
            Ok(_) => Ok(true),
            Err(error) if error.is_conflict() => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn record(&self, old: Option<&LeaseSpec>) -> LeaseSpec {
        let now = MicroTime(jiff::Timestamp::now());
        let mine = old.filter(|old| old.holder_identity.as_deref() == Some(&self.identity));
        let transitions = old.and_then(|old| old.lease_transitions).unwrap_or(0);
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(self.duration.as_secs()).ok(),
            acquire_time: mine
                .and_then(|old| old.acquire_time.clone())
                .or_else(|| Some(now.clone())),
            renew_time: Some(now),
            lease_transitions: Some(if old.is_some() && mine.is_none() {
                transitions + 1
            } else {
                transitions
            }),
            ..LeaseSpec::default()
        }
    }
}

/// Whether `identity` may take a lease whose record has been the same for `unchanged`.
fn may_take(record: Option<&LeaseSpec>, identity: &str, unchanged: Duration, duration: Duration) -> bool {
    let holder = record
        .and_then(|record| record.holder_identity.as_deref())
        .unwrap_or_default();
    let valid = record
        .and_then(|record| record.lease_duration_seconds)
        .and_then(|seconds| u64::try_from(seconds).ok())
        .map_or(duration, Duration::from_secs);
    holder.is_empty() || holder == identity || unchanged >= valid
}

/// A lease that is held.
#[derive(Debug)]
pub struct Leadership {
    election: Election,
    api: Api<Lease>,
}

impl Leadership {
    /// Renews until `shutdown`, then lets the lease go.
    ///
    /// # Errors
    /// The lease is lost; the caller has to stop at once.
    pub async fn hold(self, shutdown: CancellationToken) -> Result<(), Error> {
        let what = || format!("lease '{}/{}'", self.election.namespace, self.election.name);
        let mut renewed = Instant::now();
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return self.release().await,
                () = tokio::time::sleep(self.election.retry) => {}
            }
            match tokio::time::timeout(self.election.deadline, self.renew()).await {
                Ok(Ok(true)) => renewed = Instant::now(),
                Ok(Ok(false)) => return Err(Error::new("renew", what(), "another holder took it")),
                Ok(Err(error)) => {
                    tracing::warn!(
                        lease = self.election.name,
                        error = crate::chain(&error),
                        "cannot renew the lease"
                    );
                }
                Err(_) => {}
            }
            if renewed.elapsed() >= self.election.deadline {
                return Err(Error::new("renew", what(), "not renewed within the deadline"));
            }
        }
    }

    async fn renew(&self) -> Result<bool, Error> {
        let name = &self.election.name;
        let mut lease = self.api.get(name).await.doing("get", || format!("lease '{name}'"))?;
        let held = lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref());
        if held != Some(&self.election.identity) {
            return Ok(false);
        }
        lease.spec = Some(self.election.record(lease.spec.as_ref()));
        self.api
            .replace(name, &PostParams::default(), &lease)
            .await
            .doing("renew", || format!("lease '{name}'"))?;
        Ok(true)
    }

    async fn release(&self) -> Result<(), Error> {
        let name = &self.election.name;
        let what = || format!("lease '{name}'");
        let Some(mut lease) = self.api.get_opt(name).await.doing("get", what)? else {
            return Ok(());
        };
        if let Some(spec) = lease
            .spec
            .as_mut()
            .filter(|s| s.holder_identity.as_deref() == Some(&self.election.identity))
        {
            spec.holder_identity = Some(String::new());
            spec.lease_duration_seconds = Some(1);
            self.api
                .replace(name, &PostParams::default(), &lease)
                .await
                .doing("release", what)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_taken_when_free_own_or_stale() {
        let record = |holder: &str| LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(10),
            ..LeaseSpec::default()
        };
        let long = Duration::from_secs(60);
        let check = |record: Option<LeaseSpec>, unchanged| {
            may_take(record.as_ref(), "me", Duration::from_secs(unchanged), long)
        };
        assert!(check(None, 0));
        assert!(check(Some(record("")), 0));
        assert!(check(Some(record("me")), 0));
        assert!(!check(Some(record("other")), 9));
        assert!(check(Some(record("other")), 10));
    }
}
