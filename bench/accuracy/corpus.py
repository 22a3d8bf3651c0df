"""A corpus as it was captured: profiles, and which pairs of them are the same."""

import csv
import json
import os
import subprocess
from dataclasses import dataclass

import profiles
from plan import KINDS_APART, Pair
from subjects import Trouble


@dataclass(frozen=True)
class Scored:
    """A pair, and what osprof compare says of it."""
    pair: Pair
    scores: dict  # {method: score}
    is_different: bool  # by all three phases

    @property
    def is_labelled_different(self):
        return self.pair.label == "different"

    @property
    def counts(self):
        return self.pair.kind not in KINDS_APART


class Corpus:
    def __init__(self, directory, osprof):
        self.directory = directory
        self.osprof = osprof
        path = os.path.join(directory, "pairs.tsv")
        try:
            with open(path, encoding="utf-8", newline="") as table:
                self.pairs = [Pair(**row) for row in csv.DictReader(table, delimiter="\t")]
        except (OSError, TypeError) as error:
            raise Trouble(f"cannot read the pairs of {path}: {error}") from error
        if not self.pairs:
            raise Trouble(f"there are no pairs in {path}")

    def path(self, run):
        return os.path.join(self.directory, "runs", f"{run}.osprof")

    def buckets(self, run):
        with open(self.path(run), encoding="utf-8") as text:
            return profiles.read(text.read())

    def ordinary_runs(self):
        """Lists of runs that are the same but for noise: of one scenario and half each."""
        groups = {}
        for pair in self.pairs:
            if pair.label == "same":
                runs = groups.setdefault(pair.a.rpartition("-")[0], set())
                runs.update((pair.a, pair.b))
        return [sorted(runs) for runs in groups.values()]

    def score(self, *options):
        """All pairs, Scored; options are osprof's."""
        comparisons = {}
        for pair in self.pairs:
            if (pair.a, pair.b) not in comparisons:
                comparison = self.compare(pair.a, pair.b, *options)
                comparisons[pair.a, pair.b] = {op["op"]: op for op in comparison["ops"]}
        return [Scored(pair, comparisons[pair.a, pair.b][pair.op]["scores"],
                       comparisons[pair.a, pair.b][pair.op]["different"]) for pair in self.pairs]

    def compare(self, a, b, *options):
        """What osprof compare says of two runs."""
        return self.compare_files(self.path(a), self.path(b), *options)

    def compare_files(self, a, b, *options):
        command = [self.osprof, "compare", "--json", *options, a, b]
        try:
            result = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            what_to_do = "build it, or name its build with --build"
            raise Trouble(f"cannot run {self.osprof}: {error.strerror}; {what_to_do}") from error
        if result.returncode not in (0, 1):
            raise Trouble(f"{' '.join(command)}: {result.stderr.strip() or result.returncode}")
        return json.loads(result.stdout)

    def thresholds(self):
        """Those of osprof: the name of its default method, and {method: threshold}."""
        first = self.pairs[0]
        default = self.compare(first.a, first.b)
        thresholds = {}
        for method in default["ops"][0]["scores"]:
            thresholds[method] = self.compare(first.a, first.b, "--method", method)["threshold"]
        return default["method"], thresholds
