"""Runs codesearch as a user would, in processes of its own, and measures time and memory from outside.

Shared by the benchmarks. Imports nothing of codesearch, so that what it measures starts cold.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
POLL_SECONDS = 0.1  # reading the memory of three processes takes about 2 ms
ONE_SHOTS = 7  # the median of seven is not moved by three disturbed runs


@dataclass(frozen=True)
class Usage:
    """What a command and all its descendants used; memory in MB (10^6 bytes).

    `cpu` adds up the seconds of all cores: unlike `seconds`, it hardly depends on what else the machine does.
    `resident` adds up resident sets, so a page shared by several processes counts for each; `proportional`
    divides it among them. `largest` is the largest single process. All are the highest values polled.
    """

    seconds: float
    cpu: float
    resident: float
    proportional: float
    largest: float
    output: str


def environment(home: Path) -> dict[str, str]:
    """The environment of a codesearch process that keeps its index in `home`."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "CODESEARCH_HOME": str(home), "PYTHONPATH": os.pathsep.join(paths)}


def command(*arguments: str) -> list[str]:
    """The command line of codesearch: the installed script, or the module where it is not installed."""
    script = Path(sys.executable).parent / "codesearch"
    return [*([str(script)] if script.exists() else [sys.executable, "-m", "codesearch"]), *arguments]


def run_measured(arguments: Sequence[str], env: Mapping[str, str]) -> Usage:
    """Runs a command to its end and measures the whole process tree; RuntimeError when it fails."""
    started, cpu_before = time.perf_counter(), _children_cpu()
    process = subprocess.Popen(arguments, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    resident = proportional = largest = 0.0
    while process.poll() is None:
        memory = [_memory(pid) for pid in _tree(process.pid)]
        resident = max(resident, sum(rss for rss, _ in memory))
        proportional = max(proportional, sum(pss for _, pss in memory))
        largest = max([largest, *(rss for rss, _ in memory)])
        time.sleep(POLL_SECONDS)
    seconds = time.perf_counter() - started
    output, errors = process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)} ended with {process.returncode}:\n{errors}")
    return Usage(seconds, _children_cpu() - cpu_before, resident, proportional, largest, output)


def time_one_shots(query: str, checkout: Path, env: Mapping[str, str]) -> tuple[float, list[float]]:
    """Median seconds of a whole search process, from start to exit, and every run; one more warms the cache."""
    arguments = command("-C", str(checkout), "search", query)
    times = []
    for _ in range(ONE_SHOTS + 1):
        started = time.perf_counter()
        done = subprocess.run(arguments, env=env, capture_output=True, text=True)
        times.append(time.perf_counter() - started)
        if done.returncode not in (0, 1):  # 1: nothing found, an answer like any other
            raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    return statistics.median(times[1:]), times[1:]


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def peak_memory() -> float:
    """The largest resident set of this process so far in MB; unlike getrusage, not that of what it was forked from."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6


def describe_machine() -> str:
    """Cores, memory and load, since figures mean nothing without them."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    load = os.getloadavg()[0]
    return f"{len(os.sched_getaffinity(0))} cores, {memory:.0f} GB, load {load:.1f} before the run"


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _tree(pid: int) -> Iterator[int]:
    yield pid
    try:
        children = [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return  # it has just ended
    for child in children:
        yield from _tree(child)


def _memory(pid: int) -> tuple[float, float]:
    """Resident and proportional set of a process in MB; zeros when it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0, 0.0
    found = {name: int(rest.split()[0]) * 1024 / 1e6 for name, _, rest in (x.partition(":") for x in lines[1:])}
    return found.get("Rss", 0.0), found.get("Pss", 0.0)
