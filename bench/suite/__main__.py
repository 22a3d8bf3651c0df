"""Compares osproffs with the native directory, with itself and with its peers. Run it as scripts/bench."""

import argparse
import collections
import fnmatch
import os
import shutil
import resource
import signal
import sys

import machine
import report
from runner import Progress, Runner
from scratch import clean_up, make_scratch
from subjects import Trouble, known_subjects, peer
from trees import Trees
from workloads import FULL, NORMAL, QUICK, known_workloads

Tools = collections.namedtuple("Tools", "storm round_trip cpu_distance")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__, epilog="docs/internals/benchmarks.md says more")
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)  # scripts/bench gives it
    parser.add_argument("--rounds", type=int, metavar="N", help="how often each is run (5; --quick: 3)")
    parser.add_argument("--workload", action="append", metavar="NAME", help="only these; * and ? match (see --list)")
    parser.add_argument("--subject", action="append", metavar="NAME", help="only these; * and ? match")
    parser.add_argument("--without", action="append", default=[], metavar="NAME", help="leave these out")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND",
                        help="one more subject, in the foreground: 'll=/x/passthrough_ll -f -o source={lower} {mnt}'")
    parser.add_argument("--dir", metavar="DIR", help="work in a new directory in DIR (default: /dev/shm, a tmpfs)")
    parser.add_argument("--json", metavar="FILE", help="write everything measured to FILE")
    parser.add_argument("--near", type=float, metavar="NS",
                        help="repeat runs while a cache line took longer between two CPUs: their host moves them apart")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="little work and 3 rounds: a first look")
    size.add_argument("--full", action="store_true", help="much work: Postmark as in the thesis, a million inodes")
    parser.add_argument("--list", action="store_true", help="list workloads and subjects")
    options = parser.parse_args()
    options.rounds = options.rounds if options.rounds is not None else 3 if options.quick else 5
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    if options.near is not None and options.near <= 0:
        parser.error("--near: above 0")
    return options


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def choose(things, wanted, unwanted, kind):
    """Those named, or those run by default; every name must mean something."""
    for pattern in wanted or []:
        if not any(matches(thing.name, [pattern]) for thing in things):
            raise Trouble(f"there is no {kind} {pattern} here (scripts/bench --list shows all)")
    chosen = [thing for thing in things
              if (matches(thing.name, wanted) if wanted else getattr(thing, "by_default", True))]
    return [thing for thing in chosen if not matches(thing.name, unwanted)]


def present(workloads):
    """Leaves out, and says so, workloads whose programs are not installed."""
    for workload in workloads:
        missing = [command for command in workload.needs if not shutil.which(command)]
        if missing:
            print(f"{workload.name}: left out, {', '.join(missing)} is not installed", file=sys.stderr)
        else:
            yield workload


def list_all(workloads, subjects):
    print("Workloads:")
    print(report.table([[workload.name, workload.what, "" if workload.by_default else "only when asked for"]
                        for workload in workloads], left=3))
    print("Subjects:")
    print(report.table([[subject.name, subject.what] for subject in subjects], left=2))


def run_all(runner, workloads, subjects):
    """Prints each workload's table as soon as it is there, and gives them all; on Ctrl-C those of the rounds that are
    complete."""
    results = []
    bases = report.bases_of([subject.name for subject in subjects])
    try:
        for workload in workloads:
            what = workload.what
            if workload.tree:
                what += f"; {runner.trees.get(workload.tree)[1]}"
            outcomes = runner.run(workload, subjects)
            if any(outcome.records or outcome.failure for outcome in outcomes):
                results.append(report.Result(workload, what, outcomes))
                print(report.result_table(results[-1], bases) + "\n", flush=True)
            if runner.interrupted:
                break
    except KeyboardInterrupt:  # between workloads, or while a tree was made
        runner.interrupted = True
    if runner.interrupted:
        runner.progress.clear()
        print("interrupted: what follows is incomplete\n", flush=True)
    return results


def summarise(options, about, results, subjects):
    peers = [subject.name for subject in subjects if subject.command and not subject.is_ours]
    costs = report.profiling_costs(results)
    distance = report.distance_line(results, options.near)
    for text in (report.best_peer_table(results, peers), report.profiling_table(costs), distance):
        if text:
            print(text + "\n")
    if options.json:
        with open(options.json, "w") as file:
            file.write(report.as_json(about, vars(options), results, costs, peers))


def end_by_signal(number, _):
    sys.exit(128 + number)


def give_up_waiting(*_):
    raise Trouble("did not end within an hour")


def bench(options):
    """Returns the exit status."""
    build = os.path.abspath(options.build)
    subjects = known_subjects(build) + [peer(text) for text in options.peer]
    workloads = known_workloads()
    if options.list:
        list_all(workloads, subjects)
        return 0
    subjects = choose(subjects, options.subject, options.without, "subject")
    workloads = list(present(choose(workloads, options.workload, options.without, "workload")))
    scale = QUICK if options.quick else FULL if options.full else NORMAL
    about = machine.description(build)
    print(machine.as_text(about) + "\n", flush=True)
    tools = Tools(*(os.path.join(build, "bench", name) for name in Tools._fields))
    scratch = make_scratch(options.dir or "/dev/shm")
    try:
        progress = Progress(len(workloads) * len(subjects) * options.rounds)
        runner = Runner(scratch, tools, scale, Trees(scratch, tools, scale), options.rounds, options.near, progress)
        results = run_all(runner, workloads, subjects)
    finally:
        clean_up(scratch)
    summarise(options, about, results, subjects)
    return 130 if runner.interrupted else 1 if any_of_ours_failed(results) else 0


def any_of_ours_failed(results):
    return any(outcome.failure for result in results for outcome in result.outcomes.values()
               if outcome.subject.is_ours or not outcome.subject.command)


def raise_open_file_limit():
    """For the peers, some of which hold a descriptor for each file; osproffs does it for itself."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def main():
    raise_open_file_limit()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_by_signal)
    signal.signal(signal.SIGALRM, give_up_waiting)
    try:
        return bench(parse_arguments())
    except Trouble as trouble:
        print(f"bench: {trouble}", file=sys.stderr)
        return 2


sys.exit(main())
