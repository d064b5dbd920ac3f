#!/usr/bin/env python3
"""Writes templates.json: charts, values and options with what `helm template` printed, on stdout or as an error.

    HELM_BIN=…/helm make-templates.py

Helm 4.2.3. Every input is made here.
"""
import base64, io, json, os, shutil, subprocess, sys, tarfile, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
HELM = os.environ["HELM_BIN"]


def chart(name="top", more="", version="1.0.0", api="v2"):
    return f"apiVersion: {api}\nname: {name}\nversion: {version}\n{more}"


def cm(name, body="", annotations=""):
    note = f"\n  annotations: {annotations}" if annotations else ""
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}{note}\n{body}"


SHOW = 'v: {{ toJson .Values }}\n'


def show(template, values="", more="", **files):
    named = {name.replace("__", "/"): text for name, text in files.items()}
    return {"Chart.yaml": chart(more=more), "values.yaml": values, "templates/t.yaml": template, **named}


def sub(name, at="", more="", values="", template=None, **files):
    at = at or f"charts/{name}/"
    out = {at + "Chart.yaml": chart(name, more), at + "values.yaml": values}
    if template is not None:
        out[at + f"templates/{name}.yaml"] = template
    out.update({at + key: text for key, text in files.items()})
    return out


def dep(name, more=""):
    return f"dependencies:\n- name: {name}\n  version: '*'\n  repository: ''\n{more}"


def tgz(entries):
    """entries: (name, text | None for a folder | ("link", target))"""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            if content is None:
                info.type = tarfile.DIRTYPE
                tar.addfile(info)
            elif isinstance(content, tuple):
                info.type, info.linkname = (tarfile.SYMTYPE if content[0] == "link" else tarfile.LNKTYPE), content[1]
                tar.addfile(info)
            else:
                data = content.encode() if isinstance(content, str) else content
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return "base64:" + base64.b64encode(buffer.getvalue()).decode()


CASES = []


def case(about, files, values=(), sets=(), **options):
    values = [values] if isinstance(values, str) else list(values)
    CASES.append({"about": about, "files": files, "values": values, "sets": [list(s) for s in sets], "options": options})


exec(open(os.path.join(HERE, "templates.py")).read())


def arguments(case, folder):
    given = case["options"]
    words = [HELM, "template", given.get("name", "release-name"), os.path.join(folder, given.get("chart", "."))]
    words += ["--namespace", given.get("namespace", "default")]
    for index, text in enumerate(case["values"]):
        path = os.path.join(folder + "-values", f"{index}.yaml")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").write(text)
        words += ["-f", path]
    for kind, expression in case["sets"]:
        words += [f"--{kind}", expression]
    if "kube_version" in given:
        words += ["--kube-version", given["kube_version"]]
    for flag in ("include_crds", "is_upgrade", "no_hooks", "skip_tests", "skip_schema_validation"):
        if given.get(flag):
            words.append("--" + flag.replace("_", "-"))
    for flag in ("api_versions", "show_only"):
        for value in given.get(flag, []):
            words += ["--" + flag.replace("_", "-"), value]
    return words


def main():
    root = tempfile.mkdtemp()
    out = []
    for number, case in enumerate(CASES):
        folder = os.path.join(root, str(number), "top")
        for name, text in case["files"].items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if text.startswith("link:"):
                os.symlink(text[5:], path)
                continue
            data = base64.b64decode(text[7:]) if text.startswith("base64:") else text.encode()
            open(path, "wb").write(data)
        words = arguments(case, folder)
        done = subprocess.run(words, capture_output=True, text=True, env={"HOME": root, "PATH": os.environ["PATH"]})
        if done.returncode == 0:
            case["stdout"] = done.stdout
        else:
            lines = done.stderr.splitlines()
            start = next(i for i, line in enumerate(lines) if line.startswith("Error: "))
            text = "\n".join(lines[start:])[len("Error: "):]
            text = text.split("\n\nUse --debug")[0]
            case["error"] = text.rstrip("\n").replace(folder + "-values/", "")
        out.append(case)
    shutil.rmtree(root)
    with open(os.path.join(HERE, "templates.json"), "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(case, ensure_ascii=False, sort_keys=True) for case in out) + "\n]\n")
    print(len(out), "cases,", sum("error" in case for case in out), "refused", file=sys.stderr)


main()
