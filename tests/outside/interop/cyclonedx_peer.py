"""PyPI cyclonedx-python-lib validates bills of materials with the official schema: one request and one answer per line."""

import json
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

VALIDATOR = JsonStrictValidator(SchemaVersion.V1_6)

for line in sys.stdin:
    error = VALIDATOR.validate_str(json.loads(line)["bom"])
    print(json.dumps({"error": None if error is None else str(error)[:2000]}), flush=True)
