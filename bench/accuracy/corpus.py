"""A corpus as it was captured: profiles, and which pairs of them are the same. It is a directory, or an archive of it."""

import contextlib
import csv
import json
import os
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass

import profiles
from plan import HALVES, KINDS_APART, Pair
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


def comparison(osprof, *arguments):
    """What osprof compare says, as its JSON has it."""
    command = [osprof, "compare", "--json", *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise Trouble(f"cannot run {osprof}: {error.strerror}; build it, or name its build with --build") from error
    if result.returncode not in (0, 1):
        raise Trouble(f"{' '.join(command)}: {result.stderr.strip() or result.returncode}")
    return json.loads(result.stdout)


@contextlib.contextmanager
def opened(path, osprof):
    """The Corpus that is a directory or an archive."""
    if not os.path.isfile(path):
        yield Corpus(path, osprof)
        return
    with tempfile.TemporaryDirectory(prefix="osproffs-accuracy.") as scratch:
        try:
            with tarfile.open(path, "r:gz") as archive:
                archive.extractall(scratch)
        except (OSError, tarfile.TarError) as error:
            raise Trouble(f"cannot read the archive {path}: {error}") from error
        yield Corpus(scratch, osprof)


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

    def score(self, *options, halves=HALVES):
        """All pairs of those halves, Scored; options are osprof's."""
        comparisons = {}
        pairs = [pair for pair in self.pairs if pair.half in halves]
        for pair in pairs:
            if (pair.a, pair.b) not in comparisons:
                ops = self.compare(pair.a, pair.b, *options)["ops"]
                comparisons[pair.a, pair.b] = {op["op"]: op for op in ops}
        return [Scored(pair, comparisons[pair.a, pair.b][pair.op]["scores"],
                       comparisons[pair.a, pair.b][pair.op]["different"]) for pair in pairs]

    def compare(self, a, b, *options):
        """What osprof compare says of two runs."""
        return comparison(self.osprof, *options, self.path(a), self.path(b))

    def thresholds(self):
        """Those of osprof: the name of its default method, and {method: threshold}."""
        first = self.pairs[0]
        default = self.compare(first.a, first.b)
        thresholds = {}
        for method in default["ops"][0]["scores"]:
            thresholds[method] = self.compare(first.a, first.b, "--method", method)["threshold"]
        return default["method"], thresholds
