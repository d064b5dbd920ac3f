#!/usr/bin/env python3
"""Remakes snippets.json: what Helm itself answers to each template snippet of snippets.txt.

    python make-snippets.py          (needs the Python package helm-python-sdk==0.2.2: the Helm SDK in process)

snippets.txt: one snippet per line; `\n` stands for a line break. The values are in VALUES, the chart in CHART.
"""
import json, os, shutil, tempfile
import helm_python as helm

HERE = os.path.dirname(os.path.abspath(__file__))
VALUES = json.load(open(os.path.join(HERE, "snippets-values.json")))
FILES = {
    "Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.2.3\nappVersion: '9.9'\nkeywords: [a, b]\nannotations: {k: v}\n",
    "values.yaml": "fromChart: 1\ngone: 2\nboth: {a: 1, b: 2}\n",
    "config/a.txt": "line1\nline2\n",
    "config/b.yaml": "k: v\n",
    "config/sub/c.yaml": "x: 1",
    "templates/_h.tpl": '{{ define "greet" }}Hello {{ .name | default "you" }}{{ end }}'
                        '{{ define "nilpath" }}{{ .a.b.c }}{{ end }}{{ define "self" }}{{ . }}{{ end }}',
}

def main():
    snippets = [line.rstrip("\n").replace("\\n", "\n") for line in open(os.path.join(HERE, "snippets.txt")) if line.strip()]
    out = []
    root = tempfile.mkdtemp()
    for snippet in snippets:
        chart = os.path.join(root, "c")
        shutil.rmtree(chart, ignore_errors=True)
        for name, text in {**FILES, "templates/t.yaml": snippet}.items():
            path = os.path.join(chart, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, "w").write(text)
        try:
            with helm.Chart.load(chart) as loaded:
                answer = {"text": loaded.render(VALUES, name="rel", namespace="ns", revision=1, is_install=True,
                                                is_upgrade=False)["c/templates/t.yaml"]}
        except helm.HelmError as error:
            answer = {"error": str(error)}
        out.append({"snippet": snippet, **answer})
    shutil.rmtree(root)
    with open(os.path.join(HERE, "snippets.json"), "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in out) + "\n]\n")
    json.dump(FILES, open(os.path.join(HERE, "snippets-chart.json"), "w"), indent=1)

main()
