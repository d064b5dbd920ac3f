"""Helm's own engine for `bench render`: one line of standard input is one chart, one line of standard output is what
the library took in nanoseconds to load and render it, twice (`cold`, then `first`), and to render the loaded chart once
more (`again`), or why it was refused.

Only the library's work is timed: no process is started for it, and what it hands back is not read as JSON."""

import json
import sys
import time

from helm_python import Chart, HelmError, _native

OPTIONS = json.dumps({"name": "release-name", "namespace": "default", "is_install": True})


def render(chart):
    _native.call_string("helm_render", chart._raw(), None, OPTIONS)


for line in sys.stdin:
    path = line.rstrip("\n")
    try:
        begin = time.perf_counter_ns()
        with Chart.load(path) as chart:
            render(chart)
            cold = time.perf_counter_ns()
        middle = time.perf_counter_ns()
        with Chart.load(path) as chart:
            render(chart)
            first = time.perf_counter_ns()
            render(chart)
            again = time.perf_counter_ns()
        print(json.dumps({"cold": cold - begin, "first": first - middle, "again": again - first}), flush=True)
    except HelmError as error:
        print(json.dumps({"refused": str(error)[:200]}), flush=True)
