"""Runs a program with limits and says what it took: measured.py SECONDS MEBIBYTES OUT ERR COMMAND…

Standard output and error go to the files OUT and ERR. Prints one line of JSON: status (negative: killed by that signal),
seconds, peak resident set in KiB (that of this script is the floor, some 10 MiB). MEBIBYTES limits the address space;
0 does not.
"""
import json
import os
import resource
import signal
import sys
import time


def main(seconds, mebibytes, out, err, *command):
    limit = int(mebibytes) << 20
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        try:
            os.execvp(command[0], command)
        except OSError as error:
            print(f"Error: start {command[0]}: {error}", file=sys.stderr)
            os._exit(127)

    def stop(*_):
        os.killpg(child, signal.SIGKILL)

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(int(seconds))
    _, status, usage = os.wait4(child, 0)
    print(json.dumps({
        "status": os.waitstatus_to_exitcode(status),
        "seconds": round(time.monotonic() - start, 3),
        "rss": usage.ru_maxrss,
    }))


main(*sys.argv[1:])
