"""Comparisons, verdicts, causes and waits as JSON: all that the documents say is in the objects."""

import dataclasses
import json
import subprocess
import sys
import unittest

import osprof
from helpers import DATA, TESTS, ScratchTest, as_file
from osprof import comparison, model, reading, verdict, waits

SCHEMAS = TESTS.parent / "docs"


def tells(document, found, place="document"):
    """Where an object does not have what a document says; "" if it has all."""
    if dataclasses.is_dataclass(found):
        names = {field.metadata.get("member", field.name): field.name for field in dataclasses.fields(found)}
        for key, value in document.items():
            if key not in names:
                return f"{place}.{key} is not told"
            complaint = tells(value, getattr(found, names[key]), f"{place}.{key}")
            if complaint:
                return complaint
        return ""
    if isinstance(document, list):
        if len(document) != len(found):
            return f"{place} has {len(found)} elements"
        complaints = (tells(one, other, f"{place}[{at}]") for at, (one, other) in enumerate(zip(document, found)))
        return next(filter(None, complaints), "")
    if isinstance(document, dict):
        complaints = (tells(value, found[key], f"{place}.{key}") for key, value in document.items())
        return next(filter(None, complaints), "" if document.keys() == found.keys() else f"{place} has other keys")
    return "" if document == found else f"{place}: {document!r} is {found!r}"


# Members that are properties, or sentences for people, and fields that are no members.
COMPUTED = {
    model.Call: {"age_seconds", "latency_seconds", "holder"},
    model.Cause: {"total_seconds", "longest_seconds", "buckets"},
}
NO_MEMBERS = {"scale", "latencies"}
ALWAYS_IN_JSON = {model.Cause: {"cause_class"}}  # a text may lack it


def members_of(kind):
    return {field.metadata.get("member", field.name) for field in dataclasses.fields(kind)} - NO_MEMBERS


class Documents(ScratchTest):
    def test_comparison(self):
        options = ("compare", "--json", DATA / "compare-before.osprof", DATA / "compare-after.osprof")
        text = self.run_osprof(*options, statuses=(0, 1))
        read = osprof.load_comparison(as_file(text))
        self.assertEqual("", tells(json.loads(text), read))
        self.assertTrue(read.different)
        changed = [name for name, operation in read.operations.items() if operation.different]
        self.assertEqual([one["op"] for one in json.loads(text)["ops"] if one["different"]], changed)

    def test_comparison_of_sampled_profiles(self):
        sampled = DATA / "plot-sampled.osprof"
        text = self.run_osprof("compare", "--json", sampled, sampled)
        read = osprof.load_comparison(as_file(text))
        self.assertEqual("", tells(json.loads(text), read))
        self.assertTrue(read.identical)
        self.assertTrue(any(operation.slots for operation in read.ops))

    def test_verdict(self):
        for prefix, change in (("a", "READ=1"), ("b", "READ=2")):
            command = [sys.executable, TESTS / "cli" / "make_runs.py", prefix, "5", change, "FSYNC!.1@EIO"]
            subprocess.run(command, cwd=self.scratch, check=True)
        runs = [sorted(name.name for name in self.scratch.glob(prefix + "*")) for prefix in "ab"]
        self.assertEqual([5, 5], [len(names) for names in runs])
        text = self.run_osprof("compare", "--json", *runs[0], "--", *runs[1], statuses=(0, 1))
        read = osprof.load_verdict(as_file(text))
        self.assertEqual("", tells(json.loads(text), read))
        self.assertEqual("slower", read.operations["READ"].verdict)
        with self.assertRaisesRegex(osprof.FormatError, r"load_verdict\(\) reads one of two sets of runs"):
            osprof.load_comparison(as_file(text))

    def test_causes(self):
        text = self.run_osprof("why", "--json", DATA / "why.osprof")
        read, whole = osprof.load(as_file(text)), osprof.load(DATA / "why.osprof")
        self.assertEqual(whole.causes, read.causes)
        self.assertEqual(whole.slow_calls, read.slow_calls)
        self.assertGreater(len(read.causes), 1)

    def test_waits(self):
        both = dict(program="a", waiting_now=1, total_seconds=1.5, longest_seconds=1)
        wait = dict(both, cause="a lock", cause_class="lock", named=True, waits=3, **{"class": "held up"})
        lock = dict(both, lock="mutex", state="asleep", contentions=1)
        names = "elapsed_seconds threads processes threads_of_work total_seconds unnamed_seconds work_seconds".split()
        document = {name: 7 for name in names + ["lost_waits", "skipped_waits"]}
        document.update(version=1, waits=[wait], locks=[lock], lost_contentions=0)
        read = osprof.load_waits(as_file(json.dumps(document).encode()))
        self.assertEqual("", tells(document, read))
        self.assertEqual("held up", read.waits[0].wait_class)

    def test_the_objects_have_the_members_of_the_schemas(self):
        rows = (
            ("comparison", comparison.Comparison, {
                "profile": comparison.ComparedProfile, "op": comparison.ComparedOperation, "side": comparison.Side,
                "peak_pair": comparison.PeakPair, "peak": comparison.Peak, "slot": comparison.Slot}),
            ("verdict", verdict.Verdict, {
                "time": verdict.Time, "figure": verdict.Figure, "op": verdict.JudgedOperation,
                "peak": verdict.RunsPeak}),
            ("waits", waits.Waits, {"wait": waits.Wait, "lock": waits.Lock, "link": model.Link}),
            ("profile", None, {
                "call": model.Call, "cause": model.Cause, "slow_caller": model.SlowCaller, "link": model.Link}),
            ("recording", None, {"row": reading.Row, "cell": reading.Cell}),
        )
        for name, whole, kinds in rows:
            schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
            if whole:
                self.assertEqual(set(schema["properties"]), members_of(whole))
            for definition, kind in kinds.items():
                with self.subTest(schema=name, definition=definition):
                    members = set(schema["$defs"][definition]["properties"])
                    if kind in COMPUTED:
                        self.assertLess(COMPUTED[kind], members)
                        members -= COMPUTED[kind]
                    self.assertEqual(members, members_of(kind))
                    self.assertEqual(set(schema["$defs"][definition]["required"]), needed_of(kind))

    def test_the_example_has_every_field(self):
        """A unit test says that it has all those of libaggstats; so these are all of them."""
        profile = osprof.load(DATA / "show-every-field.osprof")
        for records in (profile.in_flight + profile.slow_calls, profile.causes, profile.slow_callers,
                        profile.slow_calls[0].links):
            for field in dataclasses.fields(records[0]):
                if field.name != "latencies":
                    known = [getattr(record, field.name) for record in records]
                    self.assertTrue(any(value or value == 0 and value is not False for value in known), field.name)


def needed_of(kind):
    missing = dataclasses.MISSING
    needed = [field for field in dataclasses.fields(kind) if field.default is field.default_factory is missing]
    members = {field.metadata.get("member", field.name) for field in needed} - NO_MEMBERS
    return members | ALWAYS_IN_JSON.get(kind, set())


if __name__ == "__main__":
    unittest.main()
