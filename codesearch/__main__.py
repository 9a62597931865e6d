"""`python -m codesearch` is the `codesearch` command."""

import sys

from codesearch.cli import main

if __name__ == "__main__":
    sys.exit(main())
