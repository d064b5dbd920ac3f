"""Helm's own engine for `bench render`: one line of standard input is one chart to load and render, one line of
standard output is what that took inside the library, in nanoseconds, or why it was refused.

Only the library's work is timed: no process is started for it, and what it hands back is not read as JSON."""

import json
import sys
import time

from helm_python import Chart, HelmError, _native

OPTIONS = json.dumps({"name": "release-name", "namespace": "default", "is_install": True})

for line in sys.stdin:
    path = line.rstrip("\n")
    begin = time.perf_counter_ns()
    try:
        with Chart.load(path) as chart:
            text = _native.call_string("helm_render", chart._raw(), None, OPTIONS)
            took = time.perf_counter_ns() - begin
        print(json.dumps({"nanoseconds": took, "bytes": len(text)}), flush=True)
    except HelmError as error:
        print(json.dumps({"refused": str(error)[:200]}), flush=True)
