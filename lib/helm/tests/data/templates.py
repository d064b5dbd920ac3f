# The inputs of make-templates.py: small charts that show one behaviour each.

# --- order, documents, hooks -------------------------------------------------------------------------------------
MIXED = "\n\n# first\n" + cm("a") + "\n\n---\n\napiVersion: v1\nkind: Secret\n---\n---\n# only a comment\n"
case("documents are split and sorted by kind", show(MIXED))
case("nothing printed", {"Chart.yaml": chart()})
case("only blanks printed", show("{{ if false }}x{{ end }}\n\n"))
ZOO = {f"templates/{n}.yaml": f"apiVersion: v1\nkind: {k}\nmetadata: {{name: {n}}}\n" for n, k in enumerate(
    "Widget Alpha Ingress Deployment Service ConfigMap Secret Namespace CustomResourceDefinition Role Job Alpha APIService".split())}
case("kinds in the order of installation, unknown ones by name", {"Chart.yaml": chart(), **ZOO})
case("hooks come last, by kind", {"Chart.yaml": chart(),
     "templates/b.yaml": cm("b", "", "{helm.sh/hook: post-install, helm.sh/hook-weight: '-5'}") + "\n\n\n",
     "templates/a.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\n  annotations: {helm.sh/hook: 'pre-install, pre-upgrade'}\n",
     "templates/t.yaml": cm("t", "", "{helm.sh/hook: test}"), "templates/z.yaml": cm("z")})
for flag in ("no_hooks", "skip_tests"):
    case(f"hooks with {flag}", {"Chart.yaml": chart(), "templates/t.yaml": cm("t", "", "{helm.sh/hook: test}"), "templates/z.yaml": cm("z"),
         "templates/p.yaml": cm("p", "", "{helm.sh/hook: pre-install}")}, **{flag: True})
case("a hook for an unknown event vanishes", show(cm("x", "", "{helm.sh/hook: nonsense}") + "---\n" + cm("y")))
case("a hook for an event in capitals", show(cm("x", "", "{helm.sh/hook: Pre-Install}")))
case("annotations without a hook", show(cm("x", "", "{a: b, c: 1, d: true}")))
case("separators with text behind them", show("a: 1\n--- # comment\nb: 2\n---  \n\nc: 3\n"))
case("a separator at the start and the end", show("---\na: 1\n---\n"))
case("windows line ends", show("a: 1\r\n---\r\nb: 2\r\n"))
case("trailing blanks of the last document", show("a: 1   \n\n\n \n"))
case("kind and name as numbers", show("kind: 1\nmetadata: {name: 2}\n"))
case("numbers as kinds: float and bool", show("kind: 1.5\n---\nkind: true\n"))

# --- printed text that is no object ------------------------------------------------------------------------------
for about, text in {"a list": "- a\n", "a word": "word\n", "a number": "1\n", "metadata a number": "metadata: 1\n", "metadata a list": "metadata: [a]\n",
                    "annotations a list": "metadata:\n  annotations: [a]\n", "annotations a word": "metadata:\n  annotations: word\n",
                    "annotation a table": "metadata:\n  annotations:\n    a: {b: c}\n", "annotation a list": "metadata:\n  annotations:\n    a: [b]\n",
                    "kind a table": "kind: {a: b}\n", "name a list": "metadata: {name: [a]}\n", "apiVersion a table": "apiVersion: {}\n",
                    "broken YAML": "a: [\n", "a tab": "a:\n\tb: 1\n", "a mapping in a scalar": "a: b: c\n", "an unclosed quote": "a: \"b\n",
                    "an unknown anchor": "a: *b\n", "second document broken": "a: 1\n---\nb: }\n", "a null key": "~: 1\n", "bad indentation": "a:\n  b: 1\n c: 2\n",
                    "a key without colon": "a: 1\nb\nc: 2\n", "metadata null": "metadata:\n", "annotations null": "metadata: {annotations: }\n", "annotation null": "metadata: {annotations: {a: }}\n",
                    "an empty object": "{}\n", "a template expression left over": "a: {{ \"{{\" }} b }}\n", "a percent": "a: %b\n", "an at sign": "a: @b\n", "duplicate keys": "a: 1\na: 2\n"}.items():
    case(f"printed: {about}", show(text))
case("the first broken template by path is named", {"Chart.yaml": chart(), "templates/b.yaml": "a: [\n", "templates/a.yaml": "b: ]\n"})

# --- CRDs ----------------------------------------------------------------------------------------------------------
CRDS = {"Chart.yaml": chart(more=dep("kid", "  alias: other\n")), "crds/b.yaml": "kind: B\n\n\n---\nkind: B2\n\n", "crds/a.json": "{}", "crds/readme.md": "x", "crds/sub/c.yml": "kind: C",
        "templates/t.yaml": cm("x"), **sub("kid", template="a: 1\n", **{"crds/k.yaml": "kind: K\n"})}
case("CRDs first, those of charts inside too", CRDS, include_crds=True)
case("CRDs are left out by default", CRDS)
case("CRDs of a chart that is switched off", {**CRDS, "Chart.yaml": chart(more=dep("kid", "  condition: kid.on\n")), "values.yaml": "kid: {on: false}\n"}, include_crds=True)

# --- show-only -----------------------------------------------------------------------------------------------------
SHOWN = {"Chart.yaml": chart(), "templates/a.yaml": cm("a") + "---\n" + cm("a2"), "templates/b.yaml": cm("b"), "templates/h.yaml": cm("h", "", "{helm.sh/hook: pre-install}"),
         **sub("kid", template=cm("k"))}
case("show one", SHOWN, show_only=["templates/b.yaml"])
case("show two, in the order asked for", SHOWN, show_only=["templates/b.yaml", "templates/a.yaml"])
case("show by pattern", SHOWN, show_only=["templates/*.yaml"])
case("show a hook", SHOWN, show_only=["templates/h.yaml"])
case("show one of a chart inside", SHOWN, show_only=["charts/kid/templates/kid.yaml"])
case("show what is not there", SHOWN, show_only=["templates/b.yaml", "templates/none.yaml"])
case("show what printed nothing", {**SHOWN, "templates/e.yaml": ""}, show_only=["templates/e.yaml"])

# --- release and capabilities --------------------------------------------------------------------------------------
RELEASE = "v: {{ toJson .Release }}\nw: {{ toJson .Template }}\n"
case("the release", show(RELEASE), name="rel", namespace="ns")
case("an upgrade", show(RELEASE), is_upgrade=True)
for name in ("Bad_Name", "-x", "x" * 54, "x.y", "9"):
    case(f"a release called {name}", show(RELEASE), name=name) if not name.startswith("-") else None
CAPS = "v: {{ .Capabilities.KubeVersion }} {{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.KubeVersion.Major }} {{ .Capabilities.KubeVersion.Minor }} {{ .Capabilities.KubeVersion.GitVersion }} {{ .Capabilities.HelmVersion.Version }}\nw: {{ toJson .Capabilities.KubeVersion }}\nh: {{ .Capabilities.APIVersions.Has \"apps/v1\" }} {{ .Capabilities.APIVersions.Has \"apps/v1/Deployment\" }} {{ .Capabilities.APIVersions.Has \"x/v1/Y\" }}\n"
for version in (None, "1.25", "v1.25.3", "1.25.3-gke.1", "v1.25.3+k3s1", "1", "abc", "1.2.3.4", "v"):
    case(f"capabilities of Kubernetes {version}", show(CAPS), **({"kube_version": version} if version else {}))
case("more API versions", show(CAPS), api_versions=["x/v1/Y,z/v2", "apps/v1/Deployment"])
for wanted, given in ((">=1.20", None), (">=99", None), ("nonsense", None), (">=1.25.3", "1.25.3-gke.1"), (">1.25.2 <1.26", "v1.25.3+k3s1"), ("~1.24", "1.25"), ("^1", "1.25"), (">= 1.19.0-0", "1.25"), ("1.25.x", "1.25.9"), ("*", None)):
    case(f"kubeVersion {wanted} on {given}", show("a: 1\n", more=f"kubeVersion: '{wanted}'\n"), **({"kube_version": given} if given else {}))
case("kubeVersion of a chart inside is not looked at", {**show("a: 1\n"), **sub("kid", more="kubeVersion: '>=99'\n", template="b: 1\n")})
case("lookup finds nothing", show("v: {{ toJson (lookup \"v1\" \"Secret\" \"ns\" \"x\") }} {{ (lookup \"v1\" \"Secret\" \"\" \"\").items | len }}\n"))
case("the chart as JSON", show("v: {{ toJson .Chart }}\n", more="appVersion: 1.16\ndescription: d\nkeywords: [a, b]\nannotations: {x: 1, y: true, z: text}\nmaintainers:\n- {name: n, email: e}\nsources: [s]\nicon: i\nhome: h\ndeprecated: true\n"))
case("chart fields", show("v: {{ .Chart.AppVersion }} {{ .Chart.Annotations.x }} {{ .Chart.IsRoot }} {{ (index .Chart.Maintainers 0).Name }} {{ .Chart.Type }} {{ .Chart.APIVersion }} {{ .Chart.KubeVersion }}\n", more="appVersion: 1.16\nannotations: {x: 1.50}\nmaintainers:\n- {name: n, email: e}\n"))
for value in ("1.10", "1e3", "10", "true", "2020-01-01", "0x10", "'1.0'", "null", "1_000"):
    case(f"appVersion {value}", show("v: {{ .Chart.AppVersion | quote }}\n", more=f"appVersion: {value}\n"))

# --- Chart.yaml that is refused ------------------------------------------------------------------------------------
for about, text in {"no name": "apiVersion: v2\nversion: 1.0.0\n", "no version": "apiVersion: v2\nname: x\n", "a bad version": "apiVersion: v2\nname: x\nversion: abc\n",
                    "a version of two numbers": "apiVersion: v2\nname: x\nversion: 1.2\n", "a v in front": "apiVersion: v2\nname: x\nversion: v1.2.3\n", "no apiVersion": "name: x\nversion: 1.0.0\n",
                    "an unknown apiVersion": "apiVersion: v9\nname: x\nversion: 1.0.0\n", "a slash in the name": "apiVersion: v2\nname: a/b\nversion: 1.0.0\n", "dots as name": "apiVersion: v2\nname: ..\nversion: 1.0.0\n",
                    "a bad type": "apiVersion: v2\nname: x\nversion: 1.0.0\ntype: foo\n", "a library": "apiVersion: v2\nname: x\nversion: 1.0.0\ntype: library\n",
                    "no table": "- a\n", "empty": "", "broken": "a: [\n", "name a list": "apiVersion: v2\nname: [a]\nversion: 1.0.0\n", "keywords a word": "apiVersion: v2\nname: x\nversion: 1.0.0\nkeywords: a\n",
                    "maintainers words": "apiVersion: v2\nname: x\nversion: 1.0.0\nmaintainers: [a]\n", "dependencies a table": "apiVersion: v2\nname: x\nversion: 1.0.0\ndependencies: {a: b}\n",
                    "deprecated a word": "apiVersion: v2\nname: x\nversion: 1.0.0\ndeprecated: maybe\n", "unknown fields": "apiVersion: v2\nname: x\nversion: 1.0.0\nfoo: bar\n",
                    "a dependency twice": "apiVersion: v2\nname: x\nversion: 1.0.0\ndependencies:\n- {name: a, version: 1, repository: ''}\n- {name: a, version: 1, repository: ''}\n",
                    "a dependency without name": "apiVersion: v2\nname: x\nversion: 1.0.0\ndependencies:\n- {version: 1, repository: ''}\n",
                    "a bad alias": "apiVersion: v2\nname: x\nversion: 1.0.0\ndependencies:\n- {name: a, version: 1, repository: '', alias: 'a b'}\n",
                    "a null dependency": "apiVersion: v2\nname: x\nversion: 1.0.0\ndependencies:\n-\n", "a null maintainer": "apiVersion: v2\nname: x\nversion: 1.0.0\nmaintainers:\n-\n",
                    "a version with plus": "apiVersion: v2\nname: x\nversion: 1.0.0+a_b\n", "duplicate keys": "apiVersion: v2\nname: x\nname: y\nversion: 1.0.0\n"}.items():
    case(f"Chart.yaml: {about}", {"Chart.yaml": text, "templates/t.yaml": "v: {{ .Chart.Name }} {{ .Chart.Version }}\n"})

# --- values files --------------------------------------------------------------------------------------------------
for about, text in {"broken": "a: [\n", "a list": "- a\n", "a word": "word\n", "several documents": "a: 1\nb: {c: 1}\n---\nb: {d: 2}\n---\ne: 3\n", "empty": "", "only a comment": "# x\n", "null": "null\n",
                    "yaml 1.1": "y: yes\nn: off\no: 0755\nf: 1.0\nbig: 12345678901\nd: 2020-01-01\nt: 1:30\ne: 1e3\nh: 0x1F\nu: 1_000\ntilde: ~\n", "duplicate keys": "a: 1\na: 2\n", "anchors": "x: &x {a: 1}\ny: {<<: *x, b: 2}\n",
                    "a tab": "a:\n\tb: 1\n", "a null key": "~: 1\n", "numbers as keys": "1: a\n1.5: b\ntrue: c\n", "merge of a scalar": "a: 1\n<<: 2\n"}.items():
    case(f"chart values: {about}", show(SHOW, text))
    case(f"user values: {about}", show(SHOW, "z: 1\n"), text)
case("two values files", show(SHOW, "a: {b: 1, c: 2}\nl: [1, 2]\n"), ["a: {b: 5}\nl: [3]\n", "a: {d: 6}\nl: null\n"])
case("null in the first, value in the second", show(SHOW, "a: {b: 1}\n"), ["a: null\n", "a: {c: 1}\n"])
case("deep null removes", show(SHOW, "a: {b: {c: 1, d: 2}}\n"), "a: {b: {c: null}}\n")
case("null of a table", show(SHOW, "a: {b: 1}\n"), "a: null\n")
case("null of an unknown key", show(SHOW, "a: 1\n"), "z: null\ny: {x: null}\n")
case("nulls in the chart's values", show(SHOW, "a: null\nb: {c: null, d: {e: null}}\nl: [null]\n"), "b: {f: 1}\n")
case("a table over a scalar and back", show(SHOW, "a: 1\nb: {c: 1}\nl: [1]\n"), "a: {x: 1}\nb: 2\nl: {y: 1}\n")
case("an empty table over a table", show(SHOW, "a: {b: 1}\n"), "a: {}\n")
NUM = 'v: {{ printf "%T %T %T %v" .Values.file .Values.set .Values.chart .Values.set }}\n'
case("numbers of files are floats, of --set int64", show(NUM, "chart: 1\n"), "file: 1\n", [("set", "set=12345678")])
case("arithmetic and comparison with --set", show("v: {{ add .Values.a 1 }} {{ eq .Values.a 5 }} {{ gt (int .Values.b) 3 }} {{ .Values.a }}\n", "b: 4\n"), [], [("set", "a=5")])
case("comparing a file's number is refused", show("v: {{ eq .Values.b 4 }}\n", "b: 4\n"))

for expression in ("a=1,b=x", "a.b[1].c=5", "a={1,b,null,true}", "a={}", "a=", "a=1\\,2", "a\\.b=1", "a=null", "a=007", "a=1.5", "a=0", "a=-3", "a=9223372036854775808", "a[0]=1,a[1]=2", "a[70000]=1", "a[-1]=1",
                   "a[x]=1", "a.b", "a=1,b", "=1", "a.=1", ",a=1", "a=1,,b=2", "a={1,2", "a=b=c", "a=True", "a= 1", "a=1 ", "a[0].b={x,y},a[0].c=3", "a.b=1,a=2", "a=2,a.b=1", "a={x,{y}}", "a[0][1]=2", "a={1},a[1]=2",
                   "a.b[0]=1,a.b[0].c=2", "a=\"x\"", "a[]=1", "a[1", "a=1,", "a=+1", "a=1e3", "a=0x10", "a={x}y", "a={x},b=1", "a={x}b=1", "a[0]b=1", "a[0].=1", "a[0]", "a[0],b=1", "a[0]=1,a[0].b=2", "a.b.c,d=1", "a[0]=", "a.b=",
                   "a,b=1", "a[0][x]=1", "a[1]=x,a[0]=null", "a={x\\,y,z}", "a={x\\},z}", "a\\=b=1", "a=x\\", "a.b[0][1].c.d=5", "x=false,y=False,z=TRUE,w=Null,v=~", ".".join("a" * 32) + "=1", "table.old=2,list[0]=9", "table=1", "num.x=1", "list.x=1", "text[0]=1", "a.b.=1"):
    case(f"--set {expression[:40]}", show(SHOW, ""), "table: {old: 1, keep: 2}\nlist: [1, 2]\nnum: 1\ntext: word\n", [("set", expression)])
for kind, expression in (("set-string", "a=1,b=null,c=true,d={1,x}"), ("set-json", 'a={"x":1.5,"y":[1]},b=3'), ("set-json", '{"a":1,"b":{"c":2}}'), ("set-json", "a={"), ("set-json", "a=1 2"), ("set-json", "a"), ("set-json", "a="),
                         ("set-json", '{"a":1'), ("set-json", 'a=[1,2],b="x,y"'), ("set-json", "a.b[0]=tru"), ("set-json", "a.b=1,a.c=2"), ("set-literal", "a.b=1,2=3"), ("set-literal", "a[0]=x\\y"), ("set-literal", "a")):
    case(f"--{kind} {expression}", show(SHOW, "b: {z: 1}\n"), [], [(kind, expression)])
case("options in their order", show(SHOW, ""), "a: file\n", [("set-literal", "a=literal"), ("set-string", "b=1,a=string"), ("set", "a=set,c=2,b=3"), ("set-json", "a=1,c=\"j\"")])
case("--set of a null removes a default", show(SHOW, "a: 1\nb: {c: 1, d: 2}\n"), [], [("set", "a=null,b.c=null")])

# --- charts inside ---------------------------------------------------------------------------------------------------
KID = dict(values="a: 1\nb: {c: 2, d: 3}\n", template="kid: {{ toJson .Values }}\n")
def family(parent_values="", more=None, **kid):
    return {**show("top: {{ toJson .Values }}\n", parent_values, more if more is not None else dep("kid")), **sub("kid", **{**KID, **kid})}
case("values flow into a chart inside", family("kid: {a: 5, b: {c: 6}}\nglobal: {g: 1}\n"))
case("user values for a chart inside", family("kid: {a: 5}\n"), "kid: {b: {d: null}, z: 1}\nglobal: {g: {h: 1}}\n")
case("--set for a chart inside", family(), [], [("set", "kid.a=7,kid.new=x,global.n=3")])
case("globals of all levels", family("global: {a: top, t: {x: 1}}\nkid: {global: {b: parent, t: {y: 2}}}\n", values="global: {a: kid, c: kid, t: {x: 9, z: 3}}\n"))
case("null of a whole chart inside", family("kid: null\n"))
case("null by the user, default by the parent", family("kid: {a: 2}\n"), "kid: null\n")
case("null by the user, no default", family(), "kid: null\n")
case("null by the user, not declared", family(more=""), "kid: null\n")
case("null by the parent, not declared", family("kid: null\n", ""))
case("null globals", family("global: null\n"))
case("null globals by the user", family("global: {a: 1}\n"), "global: null\nkid: {global: null}\n")
case("a table of things for a chart inside", family("kid: [{a: 1}, true, x]\n"))
case("a scalar for a chart inside", family("kid: 5\n"))
case("a list for a chart inside", family("kid: [1]\n"))
case("a null for a default of a chart inside, by the parent", family("kid: {a: null, b: {c: null}}\n"))
case("globals that are no table", family("global: 5\n"))
case("missing dependencies", {**show(SHOW, "", dep("gone") + "- {name: kid, version: '1', repository: ''}\n- {name: gone2, version: '1', repository: 'https://x.test'}\n"), **sub("kid", **KID)})
case("a dependency of another version", family(more="dependencies:\n- {name: kid, version: '>=2', repository: ''}\n"))
case("a dependency with a broken version", family(more="dependencies:\n- {name: kid, version: 'a b c', repository: ''}\n"))
case("condition off by default", family("kid: {enabled: false}\n", dep("kid", "  condition: kid.enabled\n")))
case("condition on by user", family("kid: {enabled: false}\n", dep("kid", "  condition: kid.enabled\n")), [], [("set", "kid.enabled=true")])
case("condition in the child's own values", family("", dep("kid", "  condition: kid.enabled\n"), values="enabled: false\n"))
case("condition of several paths", family("x: {y: true}\nkid: {enabled: false}\n", dep("kid", "  condition: none.there,x.y,kid.enabled\n")))
case("condition with blanks", family("kid: {enabled: false}\n", dep("kid", "  condition: ' kid.enabled '\n")))
case("condition that is a word", family("kid: {enabled: 'false'}\n", dep("kid", "  condition: kid.enabled\n")))
case("condition through a scalar", family("x: 1\n", dep("kid", "  condition: x.y.z\n")))
case("tags", family("tags: {front: false}\n", dep("kid", "  tags: [front, back]\n")))
case("tags, one on", family("tags: {front: false, back: true}\n", dep("kid", "  tags: [front, back]\n")))
case("condition over tags", family("tags: {front: false}\nkid: {enabled: true}\n", dep("kid", "  tags: [front]\n  condition: kid.enabled\n")))
case("tags that are no table", family("tags: [front]\n", dep("kid", "  tags: [front]\n")))
case("tags by --set", family("", dep("kid", "  tags: [front]\n")), [], [("set", "tags.front=false")])
case("alias", family("one: {a: 5}\nkid: {a: 6}\n", dep("kid", "  alias: one\n")))
case("two aliases and the name", family("one: {a: 5}\ntwo: {a: 6}\nkid: {a: 7}\n", dep("kid", "  alias: one\n") + "- {name: kid, version: '*', repository: '', alias: two}\n- {name: kid, version: '*', repository: ''}\n"))
case("alias with condition", family("one: {enabled: false, a: 5}\n", dep("kid", "  alias: one\n  condition: one.enabled\n")))
case("a file of an aliased chart names its path", family("", dep("kid", "  alias: one\n"), template="p: {{ .Template.Name }} {{ .Template.BasePath }} {{ .Chart.Name }} {{ include \"kid.x\" . }}\n", **{"templates/_h.tpl": '{{ define "kid.x" }}x{{ .Chart.Name }}{{ end }}'}))
EXPORTS = "exports:\n  data: {e1: 1, e2: {x: 1}}\n  more: {e3: 3}\ninner: {deep: {d: 1}}\ntable: {t: 1}\nscalar: 5\n"
case("import by name", family("e1: mine\n", dep("kid", "  import-values: [data, more, none]\n"), values=EXPORTS))
case("import from and to", family("here: {own: 1}\n", dep("kid", "  import-values:\n  - {child: inner.deep, parent: here.there}\n  - {child: table, parent: .}\n"), values=EXPORTS))
case("import of what is no table", family("", dep("kid", "  import-values:\n  - {child: scalar, parent: here}\n  - {child: none, parent: there}\n"), values=EXPORTS))
case("import and user values", family("", dep("kid", "  import-values: [data]\n"), values=EXPORTS), "e1: user\nkid: {exports: {data: {e2: {x: 9}}}}\n")
case("import under an alias", family("", dep("kid", "  alias: one\n  import-values:\n  - {child: table, parent: t}\n"), values=EXPORTS))
case("import that is a number", family("", dep("kid", "  import-values: [5]\n"), values=EXPORTS))
case("import of a table without parent", family("", dep("kid", "  import-values:\n  - {child: table}\n"), values=EXPORTS))
GRAND = {**show("top: {{ toJson .Values }}\n", "", dep("kid", "  import-values: [up]\n")), **sub("kid", more=dep("grand", "  import-values:\n  - {child: exports.gx, parent: exports.up}\n  condition: grand.on\n"), values="grand: {on: true}\n", template="kid: {{ toJson .Values }}\n"),
         **sub("grand", "charts/kid/charts/grand/", values="exports: {gx: {g: 1}}\nz: 2\n", template="grand: {{ toJson .Values }}\n")}
case("import through two levels", GRAND)
case("a condition two levels down", GRAND, "kid: {grand: {on: false}}\n")
case("numbers of imports", {**family("", dep("kid", "  import-values: [data]\n"), values=EXPORTS), "templates/n.yaml": 'n: {{ printf "%T" .Values.e1 }}\n'})
case("a library inside", {**show('w: {{ include "lib.w" . }}\n', "", dep("lib")), **sub("lib", more="type: library\n", values="l: 1\n", template="no: 1\n", **{"templates/_l.tpl": '{{ define "lib.w" }}{{ .Chart.Name }} {{ toJson .Values }}{{ end }}'})})
case("api v1 with requirements", {"Chart.yaml": chart(api="v1"), "requirements.yaml": dep("kid", "  condition: kid.enabled\n"), "requirements.lock": "generated: \"2024-01-02T03:04:05Z\"\n", "values.yaml": "kid: {enabled: false}\n", "templates/t.yaml": SHOW, **sub("kid", **KID)})
case("api v1 with missing requirements", {"Chart.yaml": chart(api="v1"), "requirements.yaml": dep("gone"), "templates/t.yaml": SHOW})
case("api v1 with dependencies in Chart.yaml", {"Chart.yaml": chart(api="v1", more=dep("kid", "  condition: kid.enabled\n")), "values.yaml": "kid: {enabled: false}\n", "templates/t.yaml": SHOW, **sub("kid", **KID)})
case("api v2 with requirements", {"Chart.yaml": chart(), "requirements.yaml": dep("gone"), "templates/t.yaml": "f: {{ .Files.Get \"requirements.yaml\" | quote }}\n"})
case("broken requirements", {"Chart.yaml": chart(api="v1"), "requirements.yaml": "dependencies: [\n", "templates/t.yaml": SHOW})
case("requirements of a wrong shape", {"Chart.yaml": chart(api="v1"), "requirements.yaml": "dependencies: {a: b}\n", "templates/t.yaml": SHOW})
case("broken Chart.lock", {"Chart.yaml": chart(), "Chart.lock": "a: [\n", "templates/t.yaml": SHOW})
case("a chart inside without Chart.yaml", {**show(SHOW), "charts/kid/values.yaml": "a: 1\n"})
case("a broken chart inside", {**show(SHOW), "charts/kid/Chart.yaml": "name: kid\n"})
case("broken values inside", {**show(SHOW), **sub("kid", values="a: [\n")})
case("ignored folders in charts", {**show(SHOW), "charts/_x/y": "1", "charts/.z/y": "1", "charts/README.md": "r"})
case("Subcharts", {**family("kid: {a: 5}\n"), "templates/s.yaml": "s: {{ .Subcharts.kid.Values.a }} {{ .Subcharts.kid.Chart.Name }} {{ .Subcharts.kid.Release.Name }} {{ keys .Subcharts }} {{ .Subcharts.kid.Chart.IsRoot }}\n"})
case("a template error inside", family(template="a: 1\nb: {{ .Values.none.x }}\n"))
case("definitions: the parent wins", {**family(template='k: {{ include "w" . }}\n', **{"templates/_w.tpl": '{{ define "w" }}kid{{ end }}'}), "templates/_w.tpl": '{{ define "w" }}top{{ end }}'})
case("notes and partials print nothing", {**family(), "templates/NOTES.txt": "n {{ .Release.Name }}", "templates/_p.yaml": "p: 1\n", "templates/sub/NOTES.txt": "deep", "charts/kid/templates/NOTES.txt": "k"})
case("a broken NOTES.txt", {**show(SHOW), "templates/NOTES.txt": "{{ .Values.none.x }}"})
case("text files in templates are manifests", {**show(SHOW), "templates/readme.txt": "a: 1\n"})

# --- archives --------------------------------------------------------------------------------------------------------
PACKED = [("top/Chart.yaml", chart("top")), ("top/values.yaml", "a: 1\n"), ("top/templates/t.yaml", SHOW)]
def packed(about, entries, **options):
    case(about, {"p.tgz": tgz(entries) if not isinstance(entries, str) else entries}, chart="p.tgz", **options)
packed("an archive", PACKED)
packed("an archive with a chart inside", PACKED + [("top/charts/kid/Chart.yaml", chart("kid")), ("top/charts/kid/templates/k.yaml", "k: {{ .Chart.Name }}\n")])
packed("an archive in an archive", PACKED + [("top/charts/kid-1.0.0.tgz", base64.b64decode(tgz([("kid/Chart.yaml", chart("kid")), ("kid/templates/k.yaml", "k: {{ .Chart.Name }}\n")])[7:]))])
packed("an archive without a folder", [("Chart.yaml", chart()), ("templates/t.yaml", SHOW)])
packed("an archive with dot in front", [("./top/" + n[4:], t) for n, t in PACKED])
packed("an archive that leaves its folder", PACKED + [("top/../../x", "1")])
packed("an archive with an absolute path", PACKED + [("/top/x", "1")])
packed("an archive with links", PACKED + [("top/l", ("link", "/etc/passwd")), ("top/h", ("hard", "top/values.yaml"))])
packed("an archive with folders", [("top", None), ("top/templates", None)] + PACKED)
packed("an empty archive", [])
packed("an archive without Chart.yaml", [("top/values.yaml", "a: 1\n")])
packed("an archive with two folders", PACKED + [("other/Chart.yaml", chart("other"))])
packed("an archive with a helmignore", PACKED + [("top/.helmignore", "x.txt\n"), ("top/x.txt", "x"), ("top/templates/f.yaml", 'f: {{ .Files.Get "x.txt" }}\n')])
packed("an archive with a byte order mark", [("top/Chart.yaml", "\ufeff" + chart()), ("top/templates/t.yaml", "\ufeffa: 1\n")])
packed("an archive with a drive letter", PACKED + [("c:/x/y", "1")])
packed("an archive with a backslash", PACKED + [("top\\x.txt", "1")])
case("a packed chart inside", {**show(SHOW, "", dep("kid")), "charts/kid-1.0.0.tgz": tgz([("kid/Chart.yaml", chart("kid")), ("kid/values.yaml", "k: 1\n"), ("kid/templates/k.yaml", SHOW)])})
case("a broken packed chart inside", {**show(SHOW), "charts/kid-1.0.0.tgz": "no archive"})
case("a packed chart inside that is none", {**show(SHOW), "charts/kid-1.0.0.tgz": tgz([("kid/x", "1")])})
case("a signature beside a packed chart", {**show("f: {{ .Files.Get \"charts/kid-1.0.0.tgz.prov\" }}\n"), "charts/kid-1.0.0.tgz.prov": "sig"})

# --- .helmignore, Files ------------------------------------------------------------------------------------------------
FILES = {"a.txt": "A\n", "docs/b.md": "B", "docs/deep/c.md": "C", "conf/x.yaml": "x: 1\n", "conf/y.yaml": "y: 2\n", "conf/sub/z.yaml": "z: 3\n", ".hidden": "h", "templates/.t.yaml": "no: 1\n"}
LIST = "files:\n{{- range $p, $b := .Files }}\n- {{ $p }}\n{{- end }}\n"
for about, rules in {"none": "", "by base": "*.md\n", "by path": "/docs/b.md\n", "a folder": "docs/\n", "a folder by path": "conf/sub\n", "negated": "!*.yaml\n", "comment and blanks": "# x\n\n  a.txt  \n", "templates": "templates/t.yaml\n", "star": "conf/*.yaml\n",
                     "question": "?.txt\n", "class": "[ab].txt\n", "double star": "**/x\n", "broken": "[\n", "a file as folder": "a.txt/\n", "all": "*\n", "dotfiles": ".*\n", "negated folder": "!docs/\n", "slash in the middle": "docs/*\n", "crlf": "*.md\r\na.txt\r\n"}.items():
    case(f"helmignore: {about}", {**show(LIST), **FILES, ".helmignore": rules})
case("helmignore of the parent holds for charts inside", {**family(), ".helmignore": "*.txt\n", "charts/kid/f.txt": "x", "charts/kid/.helmignore": "g.md\n", "charts/kid/g.md": "y", "charts/kid/templates/l.yaml": LIST})
case("Files.Get", {**show('g: {{ .Files.Get "a.txt" | quote }} {{ .Files.Get "none" | quote }} {{ .Files.GetBytes "a.txt" }} {{ .Files.Get "templates/t.yaml" | quote }} {{ .Files.Get "values.yaml" | quote }} {{ .Files.Get "Chart.yaml" | quote }} {{ .Files.Get "crds/c.yaml" | quote }}\n'), **FILES, "crds/c.yaml": "c: 1\n"})
for pattern in ("*", "**", "*.txt", "conf/*", "conf/**", "conf/**.yaml", "**/*.yaml", "{a.txt,docs/*.md}", "conf/[xy].yaml", "conf/[!x].yaml", "d?cs/*", "none", "[", "conf/{x,y}.yaml", "**.yaml", "docs/**/c.md", "\\a.txt", "conf/[x-z].yaml"):
    case(f"Files.Glob {pattern}", {**show(f'{{{{ range $p, $b := .Files.Glob {json.dumps(pattern)} }}}}- {{{{ $p }}}}: {{{{ toString $b | quote }}}}\n{{{{ end }}}}'.replace("- {{ $p }}", "'{{ $p }}'")), **FILES})
case("AsConfig and AsSecrets", {**show('c:\n{{ (.Files.Glob "conf/*").AsConfig | indent 2 }}\ns:\n{{ (.Files.Glob "conf/*").AsSecrets | indent 2 }}\ne: {{ (.Files.Glob "none").AsConfig }}\nn: {{ .Files.AsConfig | quote }}\n'), **FILES})
case("Files.Lines", {**show('{{ range $i, $l := .Files.Lines "l.txt" }}l{{ $i }}: {{ $l | quote }}\n{{ end }}n: {{ len (.Files.Lines "none") }}\n'), "l.txt": "one\n\nthree\r\nlast", "e.txt": ""})
case("a binary file", {**show('b: {{ .Files.Get "b.bin" | b64enc }} {{ .Files.Get "b.bin" | sha256sum }} {{ .Files.Get "b.bin" | len }}\ns: {{ (.Files.Glob "b.bin").AsSecrets }}\nc: {{ (.Files.Glob "b.bin").AsConfig | quote }}\n'), "b.bin": "base64:" + base64.b64encode(bytes([0, 1, 255, 254, 65, 10, 128, 200])).decode()})
case("a file as a template", {**show('{{ tpl (.Files.Get "f.tpl") . }}\n'), "f.tpl": "n: {{ .Release.Name }} {{ .Template.Name }}"})
case("a link to a file and to a folder", {**show('l: {{ .Files.Get "link.txt" | quote }} {{ .Files.Get "folder/b.md" | quote }}\n'), **FILES, "link.txt": "link:a.txt", "folder": "link:docs"})
case("a byte order mark", {"Chart.yaml": "\ufeff" + chart(), "values.yaml": "\ufeffa: 1\n", "templates/t.yaml": "\ufeff" + SHOW, "f.txt": "\ufeffx"})

# --- schemas -------------------------------------------------------------------------------------------------------------
def schema(**properties):
    return json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": properties})
case("a schema that holds", {**show(SHOW, "port: 80\n"), "values.schema.json": schema(port={"type": "integer"})})
case("a schema that does not hold", {**show(SHOW, "port: text\n"), "values.schema.json": schema(port={"type": "integer"})})
case("a schema left unread", {**show(SHOW, "port: text\n"), "values.schema.json": schema(port={"type": "integer"})}, skip_schema_validation=True)
case("a schema and --set", {**show(SHOW, "port: 80\n"), "values.schema.json": schema(port={"type": "integer", "maximum": 100})}, [], [("set", "port=800")])
case("a schema and a whole float", {**show(SHOW, "port: 80.0\n"), "values.schema.json": schema(port={"type": "integer"})})
case("a schema and null", {**show(SHOW, "port: 80\n"), "values.schema.json": json.dumps({"type": "object", "required": ["port"]})}, "port: null\n")
case("schemas of charts inside", {**family("kid: {a: text}\n"), "values.schema.json": json.dumps({"required": ["x"]}), "charts/kid/values.schema.json": schema(a={"type": "integer"})})
case("a schema of a chart that is off", {**family("kid: {a: text, enabled: false}\n", dep("kid", "  condition: kid.enabled\n")), "charts/kid/values.schema.json": schema(a={"type": "integer"})})
case("a schema sees globals and charts inside", {**family("global: {g: 1}\n"), "values.schema.json": json.dumps({"type": "object", "additionalProperties": False, "properties": {"kid": {"type": "object"}}})})
case("a broken schema", {**show(SHOW), "values.schema.json": "{"})
case("a schema that is none", {**show(SHOW), "values.schema.json": '{"type": "nonsense"}'})
case("a schema with a reference to a file", {**show(SHOW), "values.schema.json": '{"$ref": "file:///none.json"}'})
case("a schema with local references", {**show(SHOW, "a: 1\nb: x\n"), "values.schema.json": '{"definitions": {"s": {"type": "string"}}, "properties": {"a": {"$ref": "#/definitions/s"}, "b": {"$ref": "#/definitions/s"}}}'})

# --- template errors, in full ----------------------------------------------------------------------------------------------
for about, text in {"nil pointer": "a: {{ .Values.x.y }}", "fail": '{{ fail "boo" }}', "required": '{{ required "need it" .Values.x }}', "parse": "{{ if }}", "unknown function": "{{ nope }}", "no such template": '{{ include "none" . }}',
                    "unclosed": "{{ if true }}", "bad call": "{{ atoi }}", "index": "{{ index .Values.l 5 }}", "range over a number": "{{ range .Values.n }}{{ end }}", "in tpl": '{{ tpl "{{ .Values.x.y }}" . }}', "parse in tpl": '{{ tpl "{{ if }}" . }}',
                    "fail in include": '{{ define "f" }}{{ fail "deep" }}{{ end }}{{ include "f" . }}', "toYaml must": '{{ mustToJson .Values.f }}', "template": '{{ template "none" . }}', "fail of two lines": '{{ fail "one\\ntwo\\n\\nthree" }}',
                    "wrong type": "{{ .Values.n.x }}", "method": "{{ .Files.Nope }}", "nested include": '{{ define "a" }}{{ include "b" . }}{{ end }}{{ define "b" }}{{ .Values.x.y }}{{ end }}{{ include "a" . }}',
                    "tpl of a number": "{{ tpl .Values.n . }}", "divide by zero": "{{ div 1 0 }}", "unexpected end": "{{ end }}", "bad character": "{{ # }}", "comment": "{{/* x }}", "fromYaml error": "{{ fromYaml \"a: [\" | toJson }}", "empty tpl in tpl": '{{ tpl .Values.t . }}'}.items():
    case(f"template error: {about}", show(text + "\n", "l: [1]\nn: 5\nt: '{{ tpl \"\" . }}x: 1'\n"))

# --- found in public charts ------------------------------------------------------------------------------------------------
case("tpl of blanks inside tpl", show('a: "{{ tpl .Values.t . }}"\n', "t: '{{ tpl \"  \" . }}|{{ tpl \"{{/* c */}}\" . }}|'\n"))
case("times are compared", show('{{ $n := now }}a: {{ ne $n ($n | dateModify "5m") }} {{ eq $n $n }} {{ ne $n ($n | dateModify "nonsense") }}\n'))
case("hexadecimal floats", show("a: {{ mulf 1 0x1p10 }} {{ 0x1p-2 }}\n"))
case("kinds of capabilities are compared", show("a: {{ eq .Capabilities.KubeVersion .Capabilities.KubeVersion }}\n"))
