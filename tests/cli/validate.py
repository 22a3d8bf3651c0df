"""validate.py SCHEMA JSON...: ends with 0 if all follow the schema, else says where each does not."""

import json
import sys

import jsonschema



def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


schema = read(sys.argv[1])
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
assert len(sys.argv) > 2, "nothing to validate"
wrong = False
for path in sys.argv[2:]:
    for error in validator.iter_errors(read(path)):
        print(f"{path}: {error.json_path}: {error.message}", file=sys.stderr)
        wrong = True
sys.exit(wrong)
