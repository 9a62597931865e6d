"""Memory-mapped arrays that queries read; the only package that knows their layout.

arrays and strings: files of arrays · segment: parsed and embedded contents · table: the files of a snapshot ·
corpus: both together, as documents · published: views on disk.
"""
