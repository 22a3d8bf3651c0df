"""same_buckets.py JSON CSV: ends with 0 if the two views of a profile have the same buckets."""

import csv
import json
import sys

COLUMNS = ["bucket", "lower_cycles", "upper_cycles", "lower_seconds", "upper_seconds", "count"]


def cell(value):
    """As a reader of CSV sees a number; an absent one is an empty cell."""
    return "" if value == "" else int(value) if str(value).isdecimal() else float(value)


with open(sys.argv[1], encoding="utf-8") as json_file:
    profile = json.load(json_file)
of_json = [
    [op["op"]] + [cell(bucket.get(column, "")) for column in COLUMNS] for op in profile["ops"] for bucket in op["buckets"]
]
with open(sys.argv[2], encoding="utf-8", newline="") as csv_file:
    rows = list(csv.reader(csv_file, strict=True))
of_csv = [row[:1] + [cell(value) for value in row[1:]] for row in rows[1:]]

assert rows[0] == ["op"] + COLUMNS, rows[0]
assert of_json == of_csv, f"{of_json}\n{of_csv}"
