"""The version of codesearch; views made by another one are made anew."""

__version__ = "0.1.0"
