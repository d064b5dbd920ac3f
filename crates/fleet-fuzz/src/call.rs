//! Bytes → a template that calls functions with odd arguments.
//!
//! Mutations of a template's text seldom give a call that passes the parser and the check of arguments. Here every
//! byte is a choice: of a function, of its arguments among values that are known to be awkward, of what is called
//! inside what.

use std::sync::OnceLock;

/// The values that [`template`] calls its functions with, as YAML.
pub(crate) const VALUES: &str = "\
text: hello
empty: \"\"
number: 1
part: 2.5
off: false
nothing: null
map: {c: 1, d: {e: [f, null]}, \"\": g}
list: [b, a, 2.5, null, {k: v}, [1], a]
words: [one, two, three]
global: {g: {h: i}}
";

/// Functions that are Go's or Helm's own, which no table lists; all others are sprig's.
const OTHERS: &[&str] = &[
    "and",
    "call",
    "eq",
    "fromJson",
    "fromJsonArray",
    "fromToml",
    "fromYaml",
    "fromYamlArray",
    "ge",
    "getHostByName",
    "gt",
    "html",
    "include",
    "index",
    "js",
    "le",
    "len",
    "lookup",
    "lt",
    "mustToJson",
    "mustToToml",
    "mustToYaml",
    "ne",
    "not",
    "or",
    "print",
    "printf",
    "println",
    "required",
    "slice",
    "toJson",
    "toToml",
    "toYaml",
    "toYamlPretty",
    "tpl",
    "urlquery",
];

/// Functions that take so long that nothing else would be tried.
const SLOW: &[&str] = &[
    "genPrivateKey",
    "genCA",
    "genCAWithKey",
    "genSelfSignedCert",
    "genSelfSignedCertWithKey",
    "genSignedCert",
    "genSignedCertWithKey",
    "bcrypt",
    "htpasswd",
    "derivePassword",
];

/// Arguments, as templates write them.
const ARGUMENTS: &[&str] = &[
    // Texts.
    r#""""#,
    r#""a""#,
    r#""é""#,
    r#""ab,c d,,""#,
    r#""Hello World""#,
    r#""fooBar_baz-qux""#,
    r#""\x00\xff""#,
    r#""\n  a\r\n\tb\n""#,
    r#""<a href='x'>&\"""#,
    r#""\U0001F600e\u0301""#,
    r#""-1""#,
    r#""0x1F""#,
    r#""1e400""#,
    r#""true""#,
    r#""null""#,
    r#""09""#,
    r#""9223372036854775808""#,
    r#""1.2.3-rc.1+b""#,
    r#"">=1.2 <3 || ~4.x""#,
    r#""^""#,
    r#""v2""#,
    r#""%v|%d|%s|%q|%x|%T""#,
    r#""%+.3f|%-8q|%#v|%08d|%c|%U""#,
    r#""%*d|%[3]*.[2]*[1]f|%!|%""#,
    r#""%[5]d %[0]v %1000d""#,
    r#""(a+)(?P<n>b?)|\\d{2,3}""#,
    r#""[""#,
    r#""(?i)[^a-z\\p{L}]*$""#,
    r#""${1}W${n}$$""#,
    r#""2006-01-02T15:04:05Z07:00""#,
    r#""2026-02-30""#,
    r#""Mon Jan _2 15:04:05.000 MST 2006""#,
    r#""Europe/Berlin""#,
    r#""UTC""#,
    r#""1h30m5.5s""#,
    r#""-9223372036854775808""#,
    r#""http://u:p@[::1]:80/a%20b?q=1&r#f""#,
    r#""//%zz""#,
    r#""a: [1, {b: c}]\nd: &x |\n  e\nf: *x\n""#,
    r#""- a\n- !!binary YQ==\n""#,
    r#""{\"a\": [1, null, 1e2]}""#,
    r#""[1,2""#,
    r#""[a.b]\nc = 1\nd = [1.5, 'x']\n[[a.e]]\n""#,
    r#""YWI=""#,
    r#""MFRA====""#,
    r#""{{ . }}""#,
    r#""{{ include \"h\" . }}""#,
    r#""{{ define \"h\" }}x{{ end }}""#,
    r#""h""#,
    r#""gotpl""#,
    r#""files/*""#,
    r#""map""#,
    r#""c""#,
    r#""d""#,
    r#""text""#,
    r#""v1""#,
    r#""Secret""#,
    r#"(repeat 300 "ab ")"#,
    // Numbers.
    "0",
    "1",
    "-1",
    "2",
    "3",
    "5",
    "10",
    "64",
    "-64",
    "1000",
    "2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "1.5",
    "-0.0",
    "2.5e-3",
    "1e300",
    "-1e300",
    "5e-324",
    "0x1F",
    "'a'",
    "(int 3)",
    "(int64 7)",
    "(float64 2)",
    "(toDecimal 777)",
    "(len $.Values.list)",
    // Others.
    "true",
    "false",
    "nil",
    ".",
    "$",
    "$.Values",
    "$.Values.text",
    "$.Values.empty",
    "$.Values.number",
    "$.Values.part",
    "$.Values.off",
    "$.Values.nothing",
    "$.Values.missing",
    "$.Values.map",
    "$.Values.map.d",
    "$.Values.list",
    "$.Values.words",
    "$.Chart",
    "$.Release",
    "$.Files",
    "$.Capabilities",
    "$.Capabilities.APIVersions",
    "$.Capabilities.KubeVersion",
    "$.Template",
    "$.Subcharts",
    "$.Files.Get",
    "(list)",
    "(list 1 2 3)",
    r#"(list "b" "a" nil)"#,
    "(list (list 1) (dict))",
    "(dict)",
    r#"(dict "a" 1 "b" (dict "c" nil))"#,
    r#"(dict "scheme" "s" "host" "h:1" "query" "q" "path" 1)"#,
    "(until 5)",
    r#"(splitList "," "x,y")"#,
    r#"(split "," "x,y")"#,
    "now",
    r#"(semver "1.2.3")"#,
    r#"(urlParse "http://h/p")"#,
    r#"(fromYaml "a: {b: 1}")"#,
    "$shared",
    "$cycle",
    "$deep",
    "$x",
    "$x",
    "$x",
];

/// Values that are no tree: one that shares its parts, one tied into itself, one nested deeply.
const TANGLED: &str = "\
{{- $shared := list 1 -}}{{- range 14 -}}{{- $shared = list $shared $shared -}}{{- end -}}
{{- $cycle := dict \"a\" 1 -}}{{- $_ := set $cycle \"a\" $cycle -}}
{{- $deep := dict \"z\" 1 -}}{{- range 1200 -}}{{- $deep = dict \"a\" $deep -}}{{- end -}}
{{- $x := dict \"a\" \"b\" -}}
";

/// Calls that one template makes, and calls inside calls.
const MOST_CALLS: usize = 24;
const MOST_DEPTH: usize = 3;

/// The names of all functions that are called.
fn functions() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names: Vec<String> = gotemplate::sprig::text()
            .names()
            .chain(OTHERS.iter().copied())
            .filter(|name| !SLOW.contains(name))
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        names
    })
}

/// The template that the bytes choose. Every sequence of bytes gives one.
pub(crate) fn template(choices: &[u8]) -> String {
    let mut writer = Writer {
        choices: choices.iter(),
        text: TANGLED.to_owned(),
        calls: 0,
    };
    while writer.calls < MOST_CALLS && !writer.choices.as_slice().is_empty() {
        writer.statement();
    }
    writer.text
}

struct Writer<'c> {
    choices: std::slice::Iter<'c, u8>,
    text: String,
    calls: usize,
}

impl Writer<'_> {
    fn choice(&mut self) -> usize {
        self.choices.next().copied().map_or(0, usize::from)
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn statement(&mut self) {
        match self.choice() % 8 {
            0..=2 => self.action("{{ ", " }}\n"),
            3 | 4 => self.action("{{ $x = ", " }}"),
            5 => self.action("{{ range $k, $v := ", " }}{{ $k }}={{ $v }};{{ else }}none{{ end }}"),
            6 => self.action("{{ with ", " }}{{ . }}{{ end }}"),
            _ => self.action("{{ if ", " }}{{ $x | toJson }}{{ end }}"),
        }
    }

    fn action(&mut self, before: &str, after: &str) {
        self.push(before);
        self.call(0);
        for _ in 0..self.choice() % 4 {
            self.push(" | ");
            self.call(0);
        }
        self.push(after);
    }

    fn call(&mut self, depth: usize) {
        self.calls += 1;
        let names = functions();
        let place = self.choice() << 8 | self.choice();
        self.push(&names[place % names.len()]);
        for _ in 0..self.choice() % 6 {
            self.push(" ");
            self.argument(depth);
        }
    }

    fn argument(&mut self, depth: usize) {
        let choice = self.choice();
        if choice >= 240 && depth < MOST_DEPTH && self.calls < MOST_CALLS {
            self.push("(");
            self.call(depth + 1);
            self.push(")");
        } else {
            self.push(ARGUMENTS[choice % ARGUMENTS.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_can_be_given() {
        for argument in ARGUMENTS {
            let text = format!("{TANGLED}{{{{ $y := list {argument} }}}}");
            let engine = gotemplate::Engine::new().functions(
                gotemplate::sprig::text()
                    .with("fromYaml", "s", |_, _| Ok(gotemplate::Map::new().into()))
                    .with("toJson", "s", |_, _| Ok("".into())),
            );
            let data = serde_json::json!({"Values": goyaml::parse(VALUES).unwrap(), "Files": {"Get": 1},
                "Capabilities": {}});
            let printed = engine.render("t", &text, &data);
            assert!(printed.is_ok(), "{argument}: {printed:?}");
        }
    }

    #[test]
    fn every_function_can_be_called() {
        for (place, name) in functions().iter().enumerate() {
            let [.., high, low] = place.to_be_bytes();
            let text = template(&[0, high, low, 1, 0, 0]);
            assert!(text.ends_with(&format!("{{{{ {name} \"\" }}}}\n")), "{text}");
        }
        assert!(functions().len() > 200);
    }
}
