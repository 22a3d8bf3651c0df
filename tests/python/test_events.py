"""Calls read from events files are those that osprof events export writes as CSV."""

import csv
import errno
import io
import os
import struct
import subprocess
import unittest

import osprof
from helpers import ScratchTest, as_file, corpus
from osprof.events_names import Names


def made_events():
    """A file whose calls are known: two programs, names, a reset."""
    return subprocess.run([os.environ["MAKE_EVENTS"]], stdout=subprocess.PIPE, check=True).stdout


class Calls(ScratchTest):
    """Holds calls against CSV."""

    def assert_calls(self, data):
        path = self.file("events", data)
        text = self.run_osprof("events", "export", "-o", "-", path).decode()
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        events = osprof.load_events(path)
        calls = list(events)
        self.assertGreater(len(calls), 0)
        self.assertEqual(len(rows), len(calls))
        for row, call in zip(rows, calls):
            self.assert_call(row, events, call)
        self.assertEqual(calls, list(events), "a second time")
        return events

    def assert_call(self, row, events, call):
        process = events.thread_number(call.process or call.thread)
        found = {
            "start_cycles": call.start_cycles,
            "latency_cycles": call.latency_cycles,
            "op": call.operation,
            "error": errno.errorcode[call.error] if call.error else "",
            "pid": process,
            "tid": events.thread_number(call.thread),
            "program": call.program or "",
            "uid": call.uid,
            "node": call.node,
            "path": call.path or "",
            "new_name": call.texts.get("new_name", ""),
            "worker": call.worker,
            **{name: call.columns.get(name, "") for name in ("size", "offset", "result", "file")},
        }
        if "host" in row:
            found["host"] = call.host.description.host
        for name, value in found.items():
            value = str(value).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            self.assertEqual(row[name], value, name)
        self.assertLessEqual(abs(int(row["start_ns"]) - call.start_ns), 1)
        self.assertAlmostEqual(int(row["latency_ns"]), call.latency_seconds * 1e9, delta=1)


class Events(Calls):
    def test_events_of_earlier_versions(self):
        for data in corpus("events"):
            events = self.assert_calls(data)
            self.assertFalse(events.losses.is_open)
            self.assertEqual(0, events.losses.dropped + events.losses.missing + events.losses.cut_bytes)

    def test_events_with_names(self):
        events = self.assert_calls(made_events())
        self.assertTrue(events.has_names)
        self.assertEqual(["start", "reset", "stop"], [mark.kind for mark in events.marks])
        self.assertEqual({"layer": "fs", "lower": "/srv/data"}, events.description.labels)

    def test_merged_events(self):
        one, two = self.file("one", made_events()), self.file("two", corpus("events")[0])
        merged = subprocess.run([os.environ["MERGE_EVENTS"], one, two], stdout=subprocess.PIPE, check=True).stdout
        events = self.assert_calls(merged)
        self.assertEqual(2, len(events.hosts))
        exported = [self.run_osprof("events", "export", *names) for names in ((self.scratch / "events",), (one, two))]
        self.assertEqual(*exported)

    def test_a_path_is_the_one_of_its_time(self):
        head = struct.Struct("<IIQQ")
        names = Names(head)
        for since, path in ((100, b"/old\0\0\0\0"), (200, b"/new\0\0\0\0")):
            self.assertTrue(names.take(head.pack(1, 4, 5, since) + path))
        names.add_link(7, 300, 5, b"y")
        names.add_link(7, 100, 5, b"x")
        names.sort_links()
        self.assertEqual(["/old", "/old", "/new"], [names.path(5, cycles) for cycles in (50, 199, 200)])
        self.assertEqual(["/old/x", "/old/x", "/new/x", "/new/y"], [names.path(7, at) for at in (50, 150, 299, 300)])
        self.assertEqual("/new/y/z", names.path(7, 400, b"z"))
        self.assertIsNone(names.path(8, 400))
        self.assertEqual("z", names.path(8, 400, b"z"))
        self.assertFalse(names.take(head.pack(1, 9, 5, 0) + bytes(8)))

    def test_both_orders_of_bytes(self):
        data = swapped(corpus("events")[0])
        events, as_recorded = osprof.load_events(as_file(data)), osprof.load_events(as_file(corpus("events")[0]))
        self.assertEqual(as_recorded.description, events.description)
        self.assertEqual([call.latency_cycles for call in as_recorded], [call.latency_cycles for call in events])
        self.assertEqual([call.columns for call in as_recorded], [call.columns for call in events])
        self.assertEqual(0, events.losses.cut_bytes + events.losses.skipped_chunks)

    def test_a_file_that_was_cut_off_has_the_calls_before(self):
        data = corpus("events")[0]
        whole = [call.start_cycles for call in osprof.load_events(as_file(data))]
        for length in range(32, len(data), 97):
            events = osprof.load_events(as_file(data[:length]))
            starts = [call.start_cycles for call in events]
            self.assertLessEqual(set(starts), set(whole))
            self.assertTrue(events.losses.is_open)
            self.assertLess(events.losses.cut_bytes, length)

    def test_what_is_no_events_file(self):
        data = corpus("events")[0]
        broken = {
            "expected an events file of osproffs": (b"", b"OSPEVEN", b"# osprof 1\nOP_READ 1 1\n 1\n" * 3),
            "byte 8: expected the number 0x01020304": (data[:8] + b"\0" + data[9:],),
            "byte 12: expected version 1 of the format, found version 7": (data[:12] + b"\7\0" + data[14:],),
            "byte 16: expected the length of the start": (
                data[:16] + b"\xff" * 4 + data[20:], data[:16] + b"\1" + data[17:]),
        }
        for message, files in broken.items():
            for one in files:
                with self.subTest(message), self.assertRaisesRegex(osprof.FormatError, message):
                    osprof.load_events(self.file("broken", one))
        message = r"events: expected a profile, found an events file; load_events\(\)"
        with self.assertRaisesRegex(osprof.FormatError, message):
            osprof.load(self.file("events", data))


def checksum(chunk, order):
    a = b = 0
    for (word,) in struct.iter_unpack(order + "Q", chunk):
        a = (a + word) % 2**64
        b = (b + a) % 2**64
    both = a ^ (b << 32 & 2**64 - 1 | b >> 32)
    return (both ^ both >> 32) % 2**32


HEADS = {2: "QqqQQII", 3: "IIQQII", 4: "IIQqQ", 6: "IIIIQII", 7: "IIQQQ"}


def swap(data, form):
    """Numbers of that form one after the other, in the other order."""
    return b"".join(struct.pack(">" + form, *numbers) for numbers in struct.iter_unpack("<" + form, data))


def swapped_records(data, count):
    """Records without names: fixed part and columns are numbers."""
    result, at = b"", 0
    for _ in range(count):
        head = struct.unpack_from("<QQIIII", data, at)
        length = (head[5] >> 6 & 1023) * 8
        result += struct.pack(">QQIIII", *head) + swap(data[at + 32 : at + length], "Q")
        at += length
    return result + data[at:]


def swapped_strings(data):
    result, at = b"", 0
    while at < len(data):
        head = struct.unpack_from("<IIQQ", data, at)
        end = at + 24 + (head[1] + 7) // 8 * 8
        result += struct.pack(">IIQQ", *head) + data[at + 24 : end]
        at = end
    return result


def swapped_inside(kind, head_bytes, inside):
    head = swap(inside[:head_bytes], HEADS[kind]) if kind in HEADS else inside[:head_bytes]
    rest = inside[head_bytes:]
    if kind == 3:
        return head + swapped_records(rest, struct.unpack_from("<I", inside, 24)[0])
    if kind == 4:
        return head + swap(rest, "IIQQ")
    return head + (swapped_strings(rest) if kind == 5 else rest)


def swapped(data):
    """A little-endian file without names as a big-endian machine would have written it."""
    result = data[:8] + swap(data[8:12], "I") + swap(data[12:16], "H") + swap(data[16:24], "I") + swap(data[24:32], "Q")
    at = 32
    while at < len(data):
        magic, kind, head_bytes, length, _, sequence = struct.unpack_from("<IHHIIQ", data, at)
        inside = swapped_inside(kind, head_bytes, data[at + 24 : at + length])
        chunk = struct.pack(">IHHIIQ", magic, kind, head_bytes, length, 0, sequence) + inside
        result += chunk[:12] + struct.pack(">I", checksum(chunk, ">")) + chunk[16:]
        at += length
    return result


if __name__ == "__main__":
    unittest.main()
