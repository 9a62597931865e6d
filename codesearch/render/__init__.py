"""Values to output: plain text, coloured text, JSON, vimgrep. Reads no files, asks no engine, prints nothing.

safe       what may reach a terminal: control characters made visible, paths as seen from a folder
documents  the JSON shapes that scripts rely on
text       a search, a status, an outline … as lines with roles (citation, symbol, code)
links      where a citation leads, for terminals that can follow it
markdown   hits as Markdown
plain      those lines without any markup, for pipes and files
terminal   those lines in colour, with rich; the only module that imports it
"""
