"""validate.py SCHEMA JSON: ends with 0 if the one follows the other, else says where it does not."""

import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as schema_file, open(sys.argv[2], encoding="utf-8") as json_file:
    schema = json.load(schema_file)
    instance = json.load(json_file)

jsonschema.Draft202012Validator.check_schema(schema)
errors = list(jsonschema.Draft202012Validator(schema).iter_errors(instance))
for error in errors:
    print(f"{sys.argv[2]}: {error.json_path}: {error.message}", file=sys.stderr)
sys.exit(bool(errors))
