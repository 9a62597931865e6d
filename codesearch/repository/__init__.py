"""Reads git repositories and plain folders: snapshots, changes, file and blob content.

The only package that runs git or imports GitPython. It knows no language, no chunk and no index. Paths are
str with surrogate escapes for bytes that are not UTF-8, relative to the root, `/`-separated.
"""

from codesearch.repository.authorship import ChosenCommits
from codesearch.repository.changes import Changes
from codesearch.repository.commands import git_version
from codesearch.repository.ranges import FilePair, FileVersion
from codesearch.repository.repository import CommitInfo, Repository

__all__ = ["Changes", "ChosenCommits", "CommitInfo", "FilePair", "FileVersion", "Repository", "git_version"]
