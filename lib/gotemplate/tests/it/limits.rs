//! Templates that mean harm end with an error: they neither hang nor take all memory nor overflow the stack.

use std::time::{Duration, Instant};

use gotemplate::budget::Limits;
use gotemplate::{Engine, Error, sprig};
use serde_json::json;

/// Small limits, so that a debug build reaches them fast; the depth is the default, because the stack must hold it.
fn limits() -> Limits {
    Limits {
        steps: 300_000,
        text: 1 << 20,
        total: 16 << 20,
        ..Limits::default()
    }
}

fn stopped_by(text: &str, words: &str) {
    let started = Instant::now();
    let engine = Engine::new().functions(sprig::text()).limits(limits());
    let error = engine
        .render("t", text, &json!({ "l": [1, 2], "m": { "a": 1 } }))
        .expect_err(text);
    assert!(
        matches!(error, Error::Limit { .. } | Error::Parse { .. }),
        "{text}: {error}"
    );
    assert!(error.to_string().contains(words), "{text}: {error}");
    assert!(
        started.elapsed() < Duration::from_secs(60),
        "{text} took {:?}",
        started.elapsed()
    );
}

#[test]
fn loops_end() {
    stopped_by(
        "{{ range $i := until 30000 }}{{ range until 30000 }}{{ end }}{{ end }}",
        "steps",
    );
    stopped_by("{{ range 1000000000 }}{{ end }}", "steps");
}

#[test]
fn large_texts_are_not_made() {
    stopped_by("{{ repeat 1000000000 \"x\" }}", "bytes");
    stopped_by("{{ until 2000000000 }}", "bytes");
    stopped_by("{{ seq 1 2000000000 }}", "bytes");
    stopped_by(
        "{{ $s := \"0123456789\" }}{{ range until 100 }}{{ $s = print $s $s }}{{ end }}",
        "bytes",
    );
    stopped_by("{{ $s := repeat 1000 \"a\\n\" }}{{ indent 100000 $s }}", "bytes");
    stopped_by("{{ $s := repeat 10000 \"a\" }}{{ replace \"a\" $s $s }}", "bytes");
    stopped_by(
        "{{ range until 100000 }}0123456789012345678901234567890123456789{{ end }}",
        "bytes",
    );
    stopped_by("{{ randAlphaNum 1000000000 }}", "bytes");
    stopped_by("{{ $s := repeat 10000 \"a\" }}{{ wrapWith 1 $s $s }}", "bytes");
    stopped_by(
        "{{ $s := repeat 10000 \"a\" }}{{ regexReplaceAll \"a\" $s $s }}",
        "bytes",
    );
}

#[test]
fn a_value_that_shares_a_part_many_times_is_not_followed() {
    let doubled = "{{ $l := list 1 }}{{ range until 60 }}{{ $l = list $l $l }}{{ end }}";
    stopped_by(&format!("{doubled}{{{{ $l }}}}"), "bytes");
    stopped_by(&format!("{doubled}{{{{ deepCopy $l | len }}}}"), "steps");
    stopped_by(&format!("{doubled}{{{{ mustToJson $l }}}}"), "a value of more than");
    let long = "{{ $l := list (repeat 1000000 \"x\") }}{{ range until 10 }}{{ $l = list $l $l }}{{ end }}";
    stopped_by(&format!("{long}{{{{ mustToJson $l }}}}"), "bytes");
    // Also where no failure is told.
    for name in ["toJson", "toPrettyJson", "toRawJson"] {
        stopped_by(&format!("{long}{{{{ {name} $l }}}}"), "bytes");
    }
    let small = "{{ $l := list 1 }}{{ range until 10 }}{{ $l = list $l $l }}{{ end }}";
    stopped_by(
        &format!("{small}{{{{ range 1000 }}}}{{{{ $x := toJson $l }}}}{{{{ end }}}}"),
        "steps",
    );
}

#[test]
fn small_maps_and_lists_count_as_what_they_take() {
    let limits = Limits {
        steps: 20_000_000,
        ..limits()
    };
    let engine = Engine::new().functions(sprig::text()).limits(limits);
    let copied = "{{ $l := dict \"a\" 1 }}{{ range 12 }}{{ $l = dict \"a\" $l \"b\" $l }}{{ end }}{{ range 5 }}{{ $l = \
                  deepCopy $l }}{{ end }}";
    for text in [
        "{{ $d := 1 }}{{ range 50000 }}{{ $d = dict \"a\" $d }}{{ end }}",
        "{{ $l := 1 }}{{ range 250000 }}{{ $l = list $l }}{{ end }}",
        copied,
    ] {
        let error = engine.render("t", text, &json!({})).unwrap_err();
        assert!(matches!(error, Error::Limit { .. }), "{text}: {error}");
        assert!(error.to_string().contains("bytes"), "{text}: {error}");
    }
}

#[test]
fn recursion_ends_before_the_stack_does() {
    stopped_by(
        "{{ define \"a\" }}{{ template \"a\" . }}{{ end }}{{ template \"a\" . }}",
        "nesting",
    );
    stopped_by(
        "{{ define \"a\" }}{{ if true }}{{ with . }}{{ template \"a\" . }}{{ end }}{{ end }}{{ end }}{{ template \"a\" . }}",
        "nesting",
    );
    let parens = "(".repeat(5000) + "1" + &")".repeat(5000);
    stopped_by(&format!("{{{{ {parens} }}}}"), "nesting");
    stopped_by(&"{{ if true }}".repeat(5000), "nesting");
    stopped_by(
        &("{{ if true }}".to_owned() + &"{{ else if true }}".repeat(5000) + "{{ end }}"),
        "nesting",
    );
}

#[test]
fn costly_functions_count_as_what_they_cost() {
    stopped_by(
        "{{ range until 100 }}{{ $k := genPrivateKey \"ecdsa\" }}{{ end }}",
        "steps",
    );
    stopped_by(
        "{{ $s := repeat 100000 \"a\" }}{{ range until 1000 }}{{ $x := sha512sum $s }}{{ end }}",
        "steps",
    );
    stopped_by("{{ $s := repeat 200000 \"a\" }}{{ shuffle $s }}", "bytes");
}

#[test]
fn numbers_in_formats_are_bounded() {
    let engine = Engine::new().functions(sprig::text()).limits(limits());
    let show = |text: &str| engine.render("t", text, &json!({})).unwrap();
    assert_eq!(show("{{ printf \"%1000000000d\" 1 }}"), "%!(NOVERB)%!(EXTRA int=1)");
    assert_eq!(show("{{ printf \"%*d\" 1000001 1 }}"), "%!(BADWIDTH)1");
    stopped_by("{{ printf \"%9999999d\" 1 }}", "bytes");
}

#[test]
fn patterns_that_explode_are_refused() {
    let engine = Engine::new().functions(sprig::text()).limits(limits());
    let text = "{{ mustRegexMatch \"((a{1000}){1000}){1000}\" \"a\" }}";
    let error = engine.render("t", text, &json!({})).unwrap_err().to_string();
    assert!(error.ends_with("error parsing regexp: expression too large"), "{error}");
    let text = "{{ regexMatch \"(a+)+$\" (print (repeat 10000 \"a\") \"b\") }}";
    assert_eq!(engine.render("t", text, &json!({})).unwrap(), "false");
}

#[test]
fn values_tied_into_themselves_are_printed_and_dropped_safely() {
    let tie = "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}";
    stopped_by(&format!("{tie}{{{{ $d }}}}"), "bytes");
    let engine = Engine::new().functions(sprig::text());
    let text = format!("{tie}{{{{ toJson $d }}}}|{{{{ len $d }}}}");
    assert_eq!(engine.render("t", &text, &json!({})).unwrap(), "|1");
    let deep = "{{ $l := list }}{{ range until 200000 }}{{ $l = list $l }}{{ end }}{{ len $l }}";
    assert_eq!(engine.render("t", deep, &json!({})).unwrap(), "1");
}
