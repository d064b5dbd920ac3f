#!/usr/bin/env python3
"""Asks the real kustomize again for every case of the baseline.

usage: remake.py KUBECTL      (any kubectl with kustomize v5.8)

A case is {name, dir, files}; what is written beside it is `output` (what the real program prints) or `fails` (what it
complains). `error`, what we say of a case that fails, is kept.
"""
import glob
import os
import subprocess
import sys
import tempfile

import yaml


def text(dumper, value):
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


yaml.SafeDumper.add_representer(str, text)
here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "baseline", "*.yaml")
for path in sorted(glob.glob(here)):
    cases = yaml.safe_load(open(path))
    for case in cases:
        with tempfile.TemporaryDirectory() as root:
            root = os.path.realpath(root)
            for name, content in case["files"].items():
                full = os.path.join(root, name)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", newline="") as out:
                    out.write(content)
            command = [sys.argv[1], "kustomize", os.path.join(root, case.get("dir", ""))]
            environment = {"HOME": root, "PATH": root}
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
        for key in ("output", "fails"):
            case.pop(key, None)
        if done.returncode:
            lines = [line for line in done.stderr.strip().splitlines() if not line.startswith("#")]
            case["fails"] = lines[0].replace(root, "")[:300] if lines else "?"
        else:
            case["output"] = done.stdout
    with open(path, "w") as out:
        yaml.safe_dump(cases, out, sort_keys=False, width=120, allow_unicode=True)
