"""The exceptions that codesearch raises on purpose.

    CodesearchError
    ├── UsageError           a flag, a location or a query that cannot be understood
    ├── SettingsError        a configuration file or environment variable is wrong
    ├── GrammarError         a file of grammars_config (ours or a user's) is wrong
    ├── RepositoryError      git is missing, the folder does not exist
    │   └── RevisionError    a revision or a range of revisions is unknown
    ├── IndexNotFoundError   nothing has been indexed and indexing was not allowed
    ├── IndexBusyError       another process holds the index lock for too long
    ├── CorruptIndexError    a file of the index does not say what it must; it is rebuilt
    ├── ModelError           an embedding model cannot be loaded
    └── LocationError        FILE:LINE or FILE#symbol names nothing, or more than one thing
        └── AmbiguousLocationError   more than one thing

Every error carries a message (what happened) and a hint (what to do); the front ends print both and no
traceback.
"""


class CodesearchError(Exception):
    """What went wrong, in one sentence, and what the user can do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(CodesearchError):
    """A flag, a location or a query cannot be understood."""


class SettingsError(CodesearchError):
    """A configuration file or an environment variable is wrong."""


class GrammarError(CodesearchError):
    """A language file is wrong; the message names the file and the key."""


class RepositoryError(CodesearchError):
    """git is missing, the folder does not exist, or git cannot do what was asked."""


class RevisionError(RepositoryError):
    """No commit, or no range of commits, is known by that name."""


class IndexNotFoundError(CodesearchError):
    """Nothing has been indexed here, and the caller did not allow indexing."""


class IndexBusyError(CodesearchError):
    """Another process is indexing and did not finish in time."""


class CorruptIndexError(CodesearchError):
    """A file of the index is truncated, of another version, or inconsistent; callers rebuild it."""


class ModelError(CodesearchError):
    """An embedding model cannot be found, loaded or used."""


class LocationError(CodesearchError):
    """A location names no declaration, or several; the hint lists the candidates."""


class AmbiguousLocationError(LocationError):
    """A symbol that a file declares more than once; the hint lists the candidates."""
