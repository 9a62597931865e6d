"""`python -m codesearch` is the `codesearch` command.

Python puts the current folder first on the import path of `-m`. That folder is a repository to be searched, not
trusted code: a `typing.py` in it would run instead of Python's own. So it is taken off before anything is imported.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]
    home = str(Path(__file__).resolve().parent.parent)
    if home not in sys.path:  # a checkout that is not installed; worker processes must find it as well
        sys.path.append(home)

    try:
        from codesearch.cli import main

        sys.exit(main())
    except KeyboardInterrupt:  # while the lines above load what `main` is made of
        sys.exit(130)
