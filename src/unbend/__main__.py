"""``python -m unbend`` is the command line."""

import sys

from unbend.cli import main

sys.exit(main())
