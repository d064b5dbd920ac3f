//! Install: the first revision, or the first after a removal whose records were kept.

use fleet_api::chain::chain;
use helm::release::{Release, Status};
use serde_json::json;

use crate::release::item::{refuse_foreign, wanted};
use crate::release::{Deployed, Error, Mode, Ports, Target, hooks, record, uninstall, wait};
use crate::store::{self, History};
use crate::write::{self, Method};

/// Installs the target as `revision`.
pub(crate) async fn install(
    ports: &Ports,
    target: &Target,
    mode: &Mode,
    history: &History,
    revision: i64,
) -> Result<Deployed, Error> {
    let method = method(mode);
    let items = wanted(ports, target).await?;
    if !mode.take_ownership {
        refuse_foreign(ports, target, &items).await?;
    }
    if mode.create_namespace {
        create_namespace(ports, target, method).await?;
    }
    supersede(ports, history).await?;
    let mut draft = record::draft(ports, target, revision, None)?;
    draft.apply_method = method.word().to_owned();
    let underway = "Initial install underway".to_owned();
    record::begin(ports, &mut draft, Status::PendingInstall, underway).await?;
    let outcome = async {
        run_hooks(ports, &mut draft, "pre-install", mode).await?;
        let mut live = Vec::with_capacity(items.len());
        for item in &items {
            live.push(write::write(&ports.cluster, method, &item.object, None, true).await?);
        }
        if mode.wait {
            wait::ready(ports, &items, mode).await?;
        }
        run_hooks(ports, &mut draft, "post-install", mode).await?;
        Ok::<_, Error>(live)
    }
    .await;
    match outcome {
        Ok(live) => {
            draft.info.notes.clone_from(&target.notes);
            record::end(ports, &mut draft, Status::Deployed, "Install complete".to_owned()).await?;
            Ok(Deployed {
                release: draft,
                live: (!mode.wait).then_some(live),
            })
        }
        Err(error) => Err(fail(ports, mode, draft, error).await?),
    }
}

fn method(mode: &Mode) -> Method {
    match (mode.force, mode.take_ownership) {
        (true, _) => Method::Replace,
        (false, true) => Method::ClientSide,
        (false, false) => Method::ServerSide,
    }
}

async fn run_hooks(ports: &Ports, draft: &mut Release, event: &'static str, mode: &Mode) -> Result<(), Error> {
    let failed = |source| Error::InstallHook {
        event,
        source: Box::new(source),
    };
    hooks::run(ports, draft, event, mode).await.map_err(failed)
}

async fn create_namespace(ports: &Ports, target: &Target, method: Method) -> Result<(), Error> {
    let namespace = json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": target.namespace, "labels": {"name": target.namespace}},
        // Owned although empty, as in what Go programs send.
        "spec": {},
    });
    if method == Method::ServerSide {
        write::write(&ports.cluster, method, &namespace, None, true).await?;
        return Ok(());
    }
    match ports.cluster.create(&namespace).await {
        Err(error) if !error.is_already_exists() => Err(write::Error::Create(error).into()),
        _ => Ok(()),
    }
}

/// Records that a removal left behind end as replaced.
async fn supersede(ports: &Ports, history: &History) -> Result<(), Error> {
    let Some(last) = history.last().filter(|last| last.info.status == Status::Uninstalled) else {
        return Ok(());
    };
    let mut replaced = last.clone();
    let description = "superseded by new release".to_owned();
    record::end(ports, &mut replaced, Status::Superseded, description).await
}

/// Notes the failure and, if that is wanted, takes away what was brought. The error to tell.
async fn fail(ports: &Ports, mode: &Mode, mut draft: Release, error: Error) -> Result<Error, Error> {
    let cause = chain(&error);
    let description = format!("Release \"{}\" failed: {cause}", draft.name);
    record::end(ports, &mut draft, Status::Failed, description).await?;
    if !mode.atomic {
        return Ok(error);
    }
    let history = store::history(&ports.agent, &draft.namespace, &draft.name).await?;
    Ok(match uninstall(ports, &history).await {
        Ok(()) => Error::Uninstalled {
            name: draft.name,
            cause,
        },
        Err(failure) => Error::NotUninstalled {
            cause,
            failure: chain(&failure),
        },
    })
}
