//! Objects to measure with: about a kilobyte, as real ones are: mostly alike, partly their own.

use std::fmt::Write as _;

/// Objects in each namespace, as a registered cluster has them (design: about ten per cluster).
pub(crate) const PER_NAMESPACE: u64 = 10;

/// A ConfigMap as a client sends it, about 1 KB.
pub(crate) fn config_map(namespace: &str, name: &str, seed: u64) -> String {
    format!(
        "{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"{name}\",\"namespace\":\"{namespace}\",\
         \"labels\":{{\"app.kubernetes.io/name\":\"service-{}\",\"app.kubernetes.io/part-of\":\"shop\",\
         \"app.kubernetes.io/managed-by\":\"bench\"}}}},\"data\":{{\"{}\":\"{}\"}}}}",
        seed % 97,
        "application.properties",
        properties(seed)
    )
}

/// Lines of settings, some of which differ from object to object.
fn properties(seed: u64) -> String {
    let mut text = String::with_capacity(900);
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for at in 0..16 {
        // An xorshift: the same objects in every run.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let own = if at % 4 == 0 { state } else { at };
        // Writing into memory cannot fail.
        let _ = write!(text, "server.pool.{at}.connections.maximum={own:016x}\\n");
    }
    text
}

/// The store's key and value of the object with a number, as the API server writes them.
pub(crate) fn stored(number: u64) -> (String, Vec<u8>) {
    let namespace = number / PER_NAMESPACE;
    let name = format!("settings-{}", number % PER_NAMESPACE);
    // Registration order is not name order: spread the namespaces as generated names are.
    let spread = namespace.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let namespace = format!("cluster-fleet-default-c-{spread:016x}");
    let key = format!("/core/configmaps/{namespace}/{name}");
    let value = format!(
        "{{\"metadata\":{{\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"labels\":{{\"app.kubernetes.io/managed-by\":\
         \"bench\",\"app.kubernetes.io/name\":\"service-{}\"}},\"managedFields\":[{{\"apiVersion\":\"v1\",\"fieldsType\":\
         \"FieldsV1\",\"fieldsV1\":{{\"f:data\":{{\".\":{{}},\"f:application.properties\":{{}}}}}},\"manager\":\"bench\",\
         \"operation\":\"Update\",\"time\":\"2026-01-01T00:00:00Z\"}}],\"name\":\"{name}\",\"namespace\":\"{namespace}\",\
         \"uid\":\"{:08x}-0000-4000-8000-{number:012x}\"}},\"data\":{{\"application.properties\":\"{}\"}}}}",
        number % 97,
        spread >> 32,
        properties(number)
    );
    (key, value.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_json_of_about_a_kilobyte() {
        let sent = config_map("default", "a", 7);
        assert!((800..1200).contains(&sent.len()), "{}", sent.len());
        let sent: serde_json::Value = serde_json::from_str(&sent).unwrap();
        assert_eq!(sent["metadata"]["name"], "a");
        let (key, value) = stored(12);
        assert!((1000..1500).contains(&value.len()), "{}", value.len());
        let value: serde_json::Value = serde_json::from_slice(&value).unwrap();
        let namespace = value["metadata"]["namespace"].as_str().unwrap();
        assert_eq!(key, format!("/core/configmaps/{namespace}/settings-2"));
    }
}
