"""validate.py SCHEMA JSON...: ends with 0 if all follow the schema, else says where each does not. A schema that it
refers to by name is looked for beside it."""

import glob
import json
import os
import sys

from jsonschema import Draft202012Validator, validators


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def refer(validator, ref, instance, schema):
    """Not by jsonschema itself, whose releases differ in how, and which of them know names like urn:a:b."""
    if ref in beside:
        yield from Draft202012Validator(beside[ref]).iter_errors(instance)
    else:
        yield from Draft202012Validator.VALIDATORS["$ref"](validator, ref, instance, schema)


schema = read(sys.argv[1])
beside = {other["$id"]: other for other in map(read, glob.glob(os.path.join(os.path.dirname(sys.argv[1]), "*.schema.json")))}
Draft202012Validator.check_schema(schema)
validator = validators.extend(Draft202012Validator, {"$ref": refer})(schema)
assert len(sys.argv) > 2, "nothing to validate"
wrong = False
for path in sys.argv[2:]:
    for error in validator.iter_errors(read(path)):
        print(f"{path}: {error.json_path}: {error.message}", file=sys.stderr)
        wrong = True
sys.exit(wrong)
