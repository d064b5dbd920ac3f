//! Rows of the batch group.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::text::{capital, containers, duration, or_none, selector};
use super::{Builtin, Row};

pub(super) fn printer(kind: &str) -> Option<Builtin> {
    Some(match kind {
        "Job" => (
            "Status|Completions|Duration|Age|Containers::1|Images::1|Selector::1",
            job,
        ),
        "CronJob" => (
            "Schedule|Timezone|Suspend:boolean|Active:integer|Last Schedule|Age|Containers::1|Images::1|Selector::1",
            cron_job,
        ),
        _ => return None,
    })
}

fn job(row: &Row<'_>) -> Vec<Value> {
    let done = row.number("/status/succeeded");
    let completions = match (
        row.get("/spec/completions").as_i64(),
        row.get("/spec/parallelism").as_i64(),
    ) {
        (Some(wanted), _) => format!("{done}/{wanted}"),
        (None, Some(parallel)) if parallel > 1 => format!("{done}/1 of {parallel}"),
        (None, _) => format!("{done}/1"),
    };
    let lasted = match row.text("/status/startTime").parse::<Timestamp>() {
        Ok(start) => {
            let end = row.text("/status/completionTime").parse().unwrap_or(row.now);
            duration(end.duration_since(start))
        }
        Err(_) => String::new(),
    };
    let [names, images] = containers(row.get("/spec/template/spec/containers"));
    vec![
        status(row).into(),
        completions.into(),
        lasted.into(),
        row.age(),
        names,
        images,
        selector(row.get("/spec/selector")).into(),
    ]
}

fn status(row: &Row<'_>) -> &'static str {
    let conditions = row.list("/status/conditions");
    let has = |kind: &str| {
        conditions
            .iter()
            .any(|condition| condition["type"] == kind && condition["status"] == "True")
    };
    if has("Complete") {
        "Complete"
    } else if has("Failed") {
        "Failed"
    } else if !row.text("/metadata/deletionTimestamp").is_empty() {
        "Terminating"
    } else if has("Suspended") {
        "Suspended"
    } else if has("FailureTarget") {
        "FailureTarget"
    } else if has("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

fn cron_job(row: &Row<'_>) -> Vec<Value> {
    let last = match row.text("/status/lastScheduleTime") {
        "" => "<none>".to_owned(),
        _ => row.since("/status/lastScheduleTime"),
    };
    let [names, images] = containers(row.get("/spec/jobTemplate/spec/template/spec/containers"));
    let zone = row.get("/spec/timeZone").as_str().unwrap_or_default();
    vec![
        row.text("/spec/schedule").into(),
        or_none(zone),
        capital(row.get("/spec/suspend") == true),
        json!(row.list("/status/active").len()),
        last.into(),
        row.age(),
        names,
        images,
        selector(row.get("/spec/jobTemplate/spec/selector")).into(),
    ]
}
