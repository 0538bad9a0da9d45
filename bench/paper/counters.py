"""counters.py MODULE_PATH INTERFACE FUNCTION...: the values of functions of camp.paper for an interface, for
callers in another network namespace: {"FUNCTION": value}.
"""

import json
import sys

sys.path.insert(0, sys.argv[1])

from camp import paper  # noqa: E402

print(json.dumps({name: getattr(paper, name)(sys.argv[2]) for name in sys.argv[3:]}))
