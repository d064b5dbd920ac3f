#!/usr/bin/env python3
"""Remakes charts.json: what Helm itself renders from each case of charts-input.json (files of a chart, values).

    python make-charts.py          (needs the Python package helm-python-sdk==0.2.2: the Helm SDK in process)
"""
import base64, io, json, os, shutil, tarfile, tempfile
import helm_python as helm

HERE = os.path.dirname(os.path.abspath(__file__))
CM = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n"
SHOW = CM + "  v: |-\n    {{- toYaml .Values | nindent 4 }}\n"

def chart(name, extra="", version="1.0.0", api="v2"):
    return f"apiVersion: {api}\nname: {name}\nversion: {version}\n{extra}"

def sub(parent, name, files):
    return {f"{parent}charts/{name}/{path}": text for path, text in files.items()}

def tgz(name, files):
    """A packed chart, as base64 under a key that says so."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in files.items():
            info = tarfile.TarInfo(f"{name}/{path}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return "base64:" + base64.b64encode(buffer.getvalue()).decode()

CHILD = {"Chart.yaml": chart("child"), "values.yaml": "a: 1\ntable: {x: 1, y: 2}\nglobal: {g: child, only: child}\nexports:\n  data: {fromExport: yes}\n  more: {m: 1}\ninner: {deep: {v: 7}}\n",
         "templates/c.yaml": SHOW, "templates/_p.tpl": '{{ define "who" }}child{{ end }}', "templates/NOTES.txt": "child notes"}
GRAND = {"Chart.yaml": chart("grand"), "values.yaml": "z: 1\n", "templates/g.yaml": SHOW}

def cases():
    def case(about, files, values=None):
        return {"about": about, "files": files, "values": values or {}}
    def root(values="", extra="", templates=None, **more):
        return {"Chart.yaml": chart("top", extra), "values.yaml": values, "templates/t.yaml": SHOW, **(templates or {}), **more}
    with_child = lambda extra="", values="", child=CHILD: {**root(values, extra), **sub("", "child", child)}
    dep = lambda more="": "dependencies:\n- name: child\n  version: 1.0.0\n  repository: ''\n" + more
    yield case("defaults and user values", root("a: 1\nb: {c: 1, d: [1, 2]}\nn: null\n"), {"b": {"d": [3]}, "z": None})
    yield case("null removes a default, deep too", root("a: 1\nb: {c: 1, d: {e: 1, f: 2}}\n"), {"a": None, "b": {"c": None, "d": {"e": None}}})
    yield case("null over a table", root("b: {c: 1}\n"), {"b": None})
    yield case("scalar over a table and the reverse", root("b: {c: 1}\ns: 1\n"), {"b": "text", "s": {"t": 1}})
    yield case("null default in the chart", root("a: null\nb: {c: null, d: 1}\n"), {"b": {"e": 1}})
    yield case("null default replaced", root("a: null\n"), {"a": 5})
    yield case("null on a key the chart does not know", root("a: 1\n"), {"q": None, "r": {"s": None}})
    plain = {"Chart.yaml": chart("child"), "templates/c.yaml": SHOW}
    for index, (top, user, child) in enumerate([
        ("b: {c: null, d: {e: null, f: 1}}\nl: [null, {x: null}]\n", {}, None),
        ("b: {c: null, d: {e: null, f: 1}}\n", {"b": {"d": {"g": 1}}}, None),
        ("b: {c: null}\n", {"b": {"c": None}}, None),
        ("b: null\n", {"b": {"c": 1}}, None),
        ("a: null\n", {"a": None}, None),
        ("child: {a: null, n: null, t: {x: null}}\n", {}, "a: 1\nt: {x: 1, y: null}\nq: null\n"),
        ("", {"child": {"a": None, "z": None, "t": {"x": None}}}, "a: 1\nt: {x: 1, y: null}\nq: null\n"),
        ("child: {a: 5}\n", {"child": {"a": None}}, "a: 1\n"),
        ("child: null\n", {}, "a: 1\n"),
        ("global: {a: 1, n: null}\n", {"global": {"b": None}}, "global: {a: null, x: null}\n"),
        ("global: {a: 1}\n", {"global": {"a": None}}, "global: {a: 3}\n"),
        ("", {}, "a: 1\nglobal: null\n"),
        ("child:\n  t: null\n", {}, "t: {x: 1}\n"),
        ("child:\n  t: {x: null}\n", {}, "t: {x: {z: 1}}\n"),
        ("global: {t: {a: 1}, s: 1}\n", {}, "global: {t: 5, s: {x: 1}}\n"),
        ("global: {t: {a: 1, b: {c: 1}}}\n", {"global": {"t": {"b": {"c": 2}}}}, "global: {t: {b: {d: 1}, e: 1}}\n"),
    ]):
        files = root(top) if child is None else {**root(top), **sub("", "child", {**plain, "values.yaml": child})}
        yield case(f"nulls and globals {index}", files, user)
    yield case("a subchart's values", with_child(values="child: {a: 2, table: {y: 3}}\n"), {"child": {"table": {"z": 4}}})
    yield case("null in a subchart's values from the parent", with_child(values="child: {a: null}\n"), {"child": {"table": {"x": None}}})
    yield case("null for a whole subchart", with_child(values="child: {a: 5}\n"), {"child": None})
    yield case("a subchart's values that are no table", with_child(), {"child": "text"})
    yield case("globals flow down", with_child(values="global: {g: top, t: 1, deep: {a: 1}}\n"), {"global": {"u": 2, "deep": {"b": 2}}})
    yield case("globals given for the subchart only", with_child(), {"child": {"global": {"g": "mine"}}})
    yield case("a global null", with_child(values="global: {g: top}\n"), {"global": {"g": None}})
    yield case("global that is no table", with_child(values="global: text\n"))
    yield case("two levels of subcharts", {**with_child(), **sub("charts/child/", "grand", GRAND)}, {"child": {"grand": {"z": 9}}, "global": {"k": "v"}})
    yield case("condition off", with_child(dep("  condition: child.enabled\n"), "child: {enabled: false}\n"))
    yield case("condition on by user", with_child(dep("  condition: child.enabled\n"), "child: {enabled: false}\n"), {"child": {"enabled": True}})
    yield case("first condition that exists decides", with_child(dep("  condition: x.y, child.on\n"), "child: {on: false}\n"))
    yield case("condition that is no boolean", with_child(dep("  condition: child.enabled\n"), "child: {enabled: 'no'}\n"))
    yield case("condition beats tag", with_child(dep("  condition: child.enabled\n  tags: [t]\n"), "tags: {t: false}\nchild: {enabled: true}\n"))
    yield case("tag off", with_child(dep("  tags: [t, u]\n"), "tags: {t: false}\n"))
    yield case("one tag on is enough", with_child(dep("  tags: [t, u]\n"), "tags: {t: false, u: true}\n"))
    yield case("tag off by user", with_child(dep("  tags: [t]\n")), {"tags": {"t": False}})
    yield case("a version that does not match", with_child("dependencies:\n- name: child\n  version: '>2'\n  repository: ''\n"))
    yield case("alias", with_child(dep("  alias: kid\n"), "kid: {a: 5}\nchild: {a: 6}\n"))
    yield case("the same chart twice", with_child(dep("  alias: one\n") + "- name: child\n  version: 1.0.0\n  repository: ''\n  alias: two\n", "one: {a: 1}\ntwo: {a: 2}\n"))
    yield case("import-values by name", with_child(dep("  import-values: [data, more, nothing]\n")))
    yield case("import-values from and to", with_child(dep("  import-values:\n  - {child: inner.deep, parent: here.there}\n  - {child: table, parent: .}\n"), "here: {own: 1}\nx: mine\n"))
    yield case("import-values and the user's values", with_child(dep("  import-values: [data]\n")), {"fromExport": "mine", "child": {"exports": {"data": {"late": 1}}}})
    yield case("import-values from a disabled chart", with_child(dep("  condition: child.enabled\n  import-values: [data]\n")), {"child": {"enabled": False}})
    yield case("condition in a nested chart", {**with_child(), "charts/child/Chart.yaml": chart("child", "dependencies:\n- {name: grand, version: '*', repository: '', condition: grand.enabled}\n"), **sub("charts/child/", "grand", GRAND)}, {"child": {"grand": {"enabled": False}}})
    yield case("a packed subchart", {**root("child: {a: 3}\n"), "charts/child-1.0.0.tgz": tgz("child", CHILD)})
    yield case("a broken packed subchart", {**root(), "charts/child-1.0.0.tgz": "no archive"})
    yield case("a subchart without Chart.yaml", {**root(), "charts/child/values.yaml": "a: 1\n"})
    yield case("stray files in charts", {**root(), "charts/README.md": "x", "charts/_ignored/x": "y", "charts/.hidden/x": "y"})
    yield case("a library chart inside", {**root("", "", {"templates/u.yaml": CM + '  w: {{ include "who" . }}\n'}), **sub("", "lib", {"Chart.yaml": chart("lib", "type: library\n"), "templates/_l.tpl": '{{ define "who" }}lib{{ end }}', "templates/x.yaml": "not: printed"})})
    yield case("definitions: the higher one wins", {**with_child(), "templates/_p.tpl": '{{ define "who" }}top{{ end }}', "templates/w.yaml": CM + '  w: {{ include "who" . }}\n', "charts/child/templates/w.yaml": CM + '  w: {{ include "who" . }}\n'})
    yield case("definitions in files of one folder", root("", "", {"templates/_a.tpl": '{{ define "d" }}a{{ end }}', "templates/_b.tpl": '{{ define "d" }}b{{ end }}', "templates/sub/_c.tpl": '{{ define "d" }}c{{ end }}', "templates/w.yaml": CM + '  w: {{ include "d" . }}\n'}))
    yield case("set is seen by later templates", {**with_child(), "templates/a.yaml": CM + '  v: {{ .Values.k | quote }}{{ $_ := set .Values "k" "a" }}\n', "templates/z.yaml": CM + '  v: {{ .Values.k | quote }}{{ $_ := set .Values "k" "z" }}{{ $_ := set .Values.child "late" 1 }}\n', "templates/sub/m.yaml": CM + '  v: {{ .Values.k | quote }}{{ $_ := set .Values "k" "m" }}\n'})
    yield case("Subcharts", {**with_child(), "templates/s.yaml": CM + "  v: {{ .Subcharts.child.Values.a }} {{ .Subcharts.child.Chart.Name }} {{ .Chart.IsRoot }} {{ .Subcharts.child.Chart.IsRoot }} {{ keys .Subcharts }}\n"})
    yield case("Template and Files of a subchart", {**with_child(), "charts/child/f.txt": "hi", "f.txt": "top", "charts/child/templates/t2.yaml": CM + '  v: {{ .Template.Name }} {{ .Template.BasePath }} {{ .Files.Get "f.txt" }} {{ .Chart.Name }} {{ .Release.Name }}\n'})
    yield case("include by path", root("", "", {"templates/cfg.yaml": CM + "  a: b\n", "templates/w.yaml": CM + '  sum: {{ include (print $.Template.BasePath "/cfg.yaml") . | sha256sum }}\n'}))
    yield case("notes and partials", {**with_child(), "templates/NOTES.txt": "Thanks for {{ .Chart.Name }}", "templates/_x.yaml": "hidden", "templates/sub/NOTES.txt": "deep"})
    yield case("crds and other folders", {**root(), "crds/crd.yaml": "kind: CustomResourceDefinition\n", "docs/x.md": "x", "templates/tests/t.yaml": CM + "  t: 1\n", "templates/data.txt": "plain {{ .Release.Name }}"})
    yield case("api v1 with requirements.yaml", {"Chart.yaml": chart("top", "", "1.0.0", "v1"), "values.yaml": "child: {enabled: false}\n", "requirements.yaml": "dependencies:\n- name: child\n  version: 1.0.0\n  repository: ''\n  condition: child.enabled\n", "templates/t.yaml": SHOW, **sub("", "child", CHILD)})
    yield case("no name", {"Chart.yaml": "version: 1.0.0\napiVersion: v2\n", "templates/t.yaml": SHOW})
    yield case("no version", {"Chart.yaml": "name: x\napiVersion: v2\n", "templates/t.yaml": SHOW})
    yield case("bad version", {"Chart.yaml": "name: x\nversion: abc\napiVersion: v2\n", "templates/t.yaml": SHOW})
    yield case("no Chart.yaml", {"values.yaml": "a: 1\n", "templates/t.yaml": SHOW})
    yield case("broken values.yaml", root("a: [\n"))
    yield case("values.yaml that is a list", root("- a\n"))
    yield case("broken Chart.yaml", {"Chart.yaml": "name: [\n", "templates/t.yaml": SHOW})
    yield case("yaml 1.1 words and numbers in values", root("y: yes\nn: off\no: 0755\nf: 1.0\nbig: 12345678901\nd: 2020-01-01\nt: 1:30\ne: 1e3\nh: 0x1F\nu: 1_000\ntilde: ~\nempty:\n"))
    yield case("numbers print as floats", root("i: 8080\nbig: 12345678\nf: 0.5\n", "", {"templates/n.yaml": CM + "  v: '{{ .Values.i }} {{ .Values.big }} {{ .Values.f }} {{ .Values.big | int }} {{ .Values.big | toString }} {{ .Values.i | quote }}'\n"}))
    yield case("anchors and merge keys in values", root("base: &b {a: 1, c: 2}\nuse: {<<: *b, c: 3}\nl: [*b]\n"))
    yield case("an empty chart", {"Chart.yaml": chart("top")})
    yield case("an empty template", root("", "", {"templates/e.yaml": "", "templates/c.yaml": "# only a comment\n", "templates/i.yaml": "{{ if .Values.nope }}\nx: 1\n{{ end }}"}))
    yield case("an error in a subchart", {**with_child(), "charts/child/templates/bad.yaml": "a: {{ .Values.nope.x }}\n"})
    yield case("an error in a partial", root("", "", {"templates/_p.tpl": '{{- define "p" }}\nx: {{ .Values.nope.x }}\n{{- end }}', "templates/w.yaml": "a: 1\nb: {{ include \"p\" . | nindent 2 }}\n"}))
    yield case("required in a partial", root("", "", {"templates/_p.tpl": '{{ define "p" }}{{ required "set it" .Values.nope }}{{ end }}', "templates/w.yaml": "a: {{ include \"p\" . }}\n"}))
    yield case("required inside tpl", root("", "", {"templates/w.yaml": "a: {{ tpl \"{{ required \\\"set it\\\" .Values.nope }}\" . }}\n"}))
    yield case("a parse error in the second file", root("", "", {"templates/w.yaml": "a: 1\nb: {{ if }}\n"}))
    yield case("a type in a dependency's metadata", {**root("", "", {"templates/d.yaml": CM + "  d: '{{ range .Chart.Dependencies }}{{ .Name }}:{{ .Version }}:{{ .Enabled }}:{{ .Alias }};{{ end }}{{ (index .Chart.Maintainers 0).Name }}'\n"}), "Chart.yaml": chart("top", "maintainers: [{name: Bo, email: b@x}]\nkubeVersion: '>=1.20-0'\ndependencies:\n- {name: child, version: '~1', repository: '', condition: a.b}\n- {name: gone, version: '1', repository: '', condition: gone.on}\n"), **sub("", "child", CHILD)}, {"gone": {"on": False}})
    yield case("schema that holds", root("port: 80\n", "", None, **{"values.schema.json": '{"type": "object", "properties": {"port": {"type": "integer"}}}'}))
    yield case("helpers like in every generated chart", root("nameOverride: ''\nfullnameOverride: ''\nreplicaCount: 1\nimage: {repository: nginx, tag: '', pullPolicy: IfNotPresent}\nservice: {port: 80}\nresources: {}\nlabels: {a: b}\ningress: {enabled: true, hosts: [{host: x.local, paths: [{path: /, pathType: Prefix}]}]}\n", "appVersion: '1.16'\n", {
        "templates/_helpers.tpl": '{{/*\nName\n*/}}\n{{- define "top.name" -}}\n{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}\n{{- end }}\n\n{{- define "top.fullname" -}}\n{{- if .Values.fullnameOverride }}\n{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}\n{{- else }}\n{{- $name := default .Chart.Name .Values.nameOverride }}\n{{- if contains $name .Release.Name }}\n{{- .Release.Name | trunc 63 | trimSuffix "-" }}\n{{- else }}\n{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}\n{{- end }}\n{{- end }}\n{{- end }}\n\n{{- define "top.labels" -}}\nhelm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}\n{{- with .Values.labels }}\n{{ toYaml . }}\n{{- end }}\napp.kubernetes.io/version: {{ .Chart.AppVersion | quote }}\napp.kubernetes.io/managed-by: {{ .Release.Service }}\n{{- end }}\n',
        "templates/deployment.yaml": 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ include "top.fullname" . }}\n  labels:\n    {{- include "top.labels" . | nindent 4 }}\nspec:\n  replicas: {{ .Values.replicaCount }}\n  template:\n    spec:\n      containers:\n        - name: {{ .Chart.Name }}\n          image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"\n          imagePullPolicy: {{ .Values.image.pullPolicy }}\n          ports:\n            - name: http\n              containerPort: {{ .Values.service.port }}\n          {{- with .Values.resources }}\n          resources:\n            {{- toYaml . | nindent 12 }}\n          {{- end }}\n',
        "templates/ingress.yaml": '{{- if .Values.ingress.enabled -}}\n{{- $fullName := include "top.fullname" . -}}\n{{- if semverCompare ">=1.19-0" .Capabilities.KubeVersion.GitVersion -}}\napiVersion: networking.k8s.io/v1\n{{- else -}}\napiVersion: extensions/v1beta1\n{{- end }}\nkind: Ingress\nmetadata:\n  name: {{ $fullName }}\nspec:\n  rules:\n    {{- range .Values.ingress.hosts }}\n    - host: {{ .host | quote }}\n      http:\n        paths:\n          {{- range .paths }}\n          - path: {{ .path }}\n            {{- if and .pathType (semverCompare ">=1.18-0" $.Capabilities.KubeVersion.GitVersion) }}\n            pathType: {{ .pathType }}\n            {{- end }}\n          {{- end }}\n    {{- end }}\n{{- end }}\n'}))

def main():
    out = []
    root = tempfile.mkdtemp()
    for case in cases():
        folder = os.path.join(root, "top")
        shutil.rmtree(folder, ignore_errors=True)
        for name, text in case["files"].items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            data = base64.b64decode(text[7:]) if text.startswith("base64:") else text.encode()
            open(path, "wb").write(data)
        try:
            with helm.Chart.load(folder) as loaded:
                case["files_out"] = loaded.render(case["values"] or None, name="rel", namespace="ns", revision=1,
                                                  is_install=True, is_upgrade=False)
        except helm.HelmError as error:
            case["error"] = str(error)
        out.append(case)
    shutil.rmtree(root)
    with open(os.path.join(HERE, "charts.json"), "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in out) + "\n]\n")

main()
