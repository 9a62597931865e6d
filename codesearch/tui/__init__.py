"""The picker in the terminal: type, and hits follow. The only package that imports textual.

Nothing here is imported by a search on the command line; textual takes a quarter of a second to load.

    typed        what stands in the input: a query, and filters such as `lang:go` (pure)
    keys         which key does what, for bindings and help
    editors      how each editor is told a file and a line (pure)
    history      the queries of earlier runs, in a file of the user's
    opening      runs the editor
    background   one thread that owns the engine; the newest question replaces one that waits
    marking      which letters of a text are words of the query (pure)
    look         themes, glyphs, and what a terminal can show
    rows         a hit as lines of the list; the status line; chips
    code         a piece of a file as coloured lines
    service      what is asked of the engine, in that thread
    field        the line that is typed into
    hits         the list
    preview      the file around a hit
    panels       screens over the others: help, why, outline
    window       what is on the screen, and the keys that only move about in it
    app          what is asked when, and what can be done with a hit
"""
