#!/usr/bin/env python3
"""Asks the real kustomize again for every case of the baseline.

usage: remake.py KUBECTL      (any kubectl with kustomize v5)

A case is {name, dir, files}; what is written beside it is `objects` (in the order they come out) or `fails: true`.
"""
import os, subprocess, sys, tempfile

import yaml

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "baseline", "cases.yaml")
cases = yaml.safe_load(open(here))
for case in cases:
    with tempfile.TemporaryDirectory() as root:
        for path, text in case["files"].items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as out:
                out.write(text)
        done = subprocess.run([sys.argv[1], "kustomize", os.path.join(root, case.get("dir", ""))], capture_output=True, text=True)
    for key in ("objects", "fails"):
        case.pop(key, None)
    if done.returncode:
        case["fails"] = True
        print(case["name"], "fails:", done.stderr.strip().splitlines()[-1][:160])
    else:
        case["objects"] = [o for o in yaml.safe_load_all(done.stdout) if o]

def text(dumper, value):
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)
yaml.SafeDumper.add_representer(str, text)
yaml.safe_dump(cases, open(here, "w"), sort_keys=False, width=120)
