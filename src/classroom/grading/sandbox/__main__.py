"""`python -m <this package> DESCRIPTOR WORK LIMITS`: be the host of a sandbox."""

import json
import sys
from pathlib import Path

from .host import main

main(int(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3]))
