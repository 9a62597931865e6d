"""The picker: what is asked when, and what can be done with a hit. Asks the engine through `Service`, in its thread."""

from __future__ import annotations

import asyncio
import contextvars
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from textual.content import Content

from codesearch.errors import CodesearchError, UsageError
from codesearch.render.explanations import explanation_layout
from codesearch.render.safe import sanitise
from codesearch.render.text import near_misses_layout
from codesearch.results import Explanation, FileOutline
from codesearch.tui import opening, typed
from codesearch.tui.background import Background
from codesearch.tui.editors import Place
from codesearch.tui.history import History
from codesearch.tui.hits import key_of
from codesearch.tui.panels import Outline, Panel, Question, laid_out
from codesearch.tui.preview import Spot
from codesearch.tui.rows import chips_line, citation, line_of, progress_text, snapshot_text
from codesearch.tui.service import FIRST_HITS, HITS, Asked, Service, Start
from codesearch.tui.window import Window, said
from codesearch.types import (
    Declaration,
    Filters,
    Hit,
    Mode,
    Progress,
    SearchResult,
    SnapshotInfo,
)

if TYPE_CHECKING:
    from codesearch.engine import Engine

Result = TypeVar("Result")
INTERRUPTED = 130
LOOK_AGAIN_S = 0.6  # after the last key: what has changed on disk can wait until the hands rest
PREVIEW_S = 0.03  # after the last move: a cursor that runs through the list needs no previews on its way
PROGRESS_S = 0.1
INTERRUPTS_PASS_S = 0.1  # after an editor has ended, for the loop to forget what was pressed in it
STOP_S = 5.0  # for an index run to notice that nobody waits for it


class Picker(Window):
    """Type, and hits follow."""

    def __init__(
        self, open_engine: Callable[[], Engine], *, theme: str, encoding: str, query: str, history: Path | None
    ) -> None:
        super().__init__(theme=theme, encoding=encoding)
        self._first_query = query
        self._history = History(history)
        self.service = Service(open_engine, self._progress)
        self.failure: Exception | None = None
        self.drawn_at = 0.0  # when the hits of the newest question had been drawn; what benchmarks measure
        self._is_ready = False  # until then nothing is searched: a search would index, unasked
        self._mode = Mode.HYBRID
        self._asked: Asked | None = None
        self._result: SearchResult | None = None
        self._similar_to: Hit | None = None
        self._snapshot: SnapshotInfo | None = None
        self._behind: int | None = None
        self._progress_shown = 0.0

    # --- start and end ---

    def on_mount(self) -> None:
        """Gets ready, after the first paint."""
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()

        def deliver(function: Callable[[], object]) -> None:
            try:
                loop.call_soon_threadsafe(lambda: self._is_over or function(), context=context)
            except RuntimeError:
                return  # the loop has ended: nobody is there any more

        self._background = Background(deliver)
        if not self.is_headless:
            self._heed_interrupts()
            loop.add_signal_handler(signal.SIGTERM, self.exit, None, 128 + signal.SIGTERM)
            loop.add_signal_handler(signal.SIGHUP, self.exit, None, 128 + signal.SIGHUP)
        self._show_mode(self._mode.value)
        self._arrange(self.size.width, self.size.height)
        self._set_query(self._first_query)
        self._say("starting")
        self._field.focus()
        self.call_after_refresh(lambda: self._background.submit("chores", self.service.folder_to_agree_to, self._begin))

    def _begin(self, folder: str | Exception | None) -> None:
        if isinstance(folder, Exception):
            self._give_up(folder)
        elif folder is None:
            self._start()
        else:
            text = f"{sanitise(folder)} is no git repository. Index the whole folder?\n\nEnter: yes   Esc: quit"
            self.push_screen(Question(text), lambda yes: self._start() if yes else self.exit())

    def _start(self) -> None:
        self._background.submit("chores", self.service.start, self._started)

    def _started(self, start: Start | Exception) -> None:
        if isinstance(start, Exception):
            self._give_up(start)
            return
        self._is_ready = True
        self._known, self._snapshot, self._behind = start.known, start.snapshot, start.behind
        self._say("")
        self._show_state()
        self._ask()

    def _give_up(self, error: Exception) -> None:
        self.failure = error
        self.exit()

    def stop(self) -> bool:
        """Ends the engine's thread; whether it has ended, so that its engine may be used again."""
        background = getattr(self, "_background", None)
        return background is None or background.stop(STOP_S)

    def _heed_interrupts(self) -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self.action_interrupt)

    def action_interrupt(self) -> None:
        """Ctrl-C."""
        self.exit(return_code=INTERRUPTED)

    def action_leave(self) -> None:
        """Leaves similar declarations, then marks, then the program."""
        if self._similar_to is not None:
            hit, self._similar_to = self._similar_to, None
            self._show_result(keep=False)
            self._list.choose(hit)
        elif self._list.marks:
            self._list.clear_marks()
        else:
            self._remember()
            self.exit()

    # --- asking ---

    def on_input_changed(self) -> None:
        """Every key asks."""
        self._ask()

    def _ask(self) -> None:
        read = typed.read(self._field.value, self._known)
        completions = typed.completions(self._field.value, self._known)
        self._chips.update(chips_line(read.chips, completions, self._look), layout=False)
        self._chips.set_class(bool(read.chips), "shown")
        asked = Asked(read.query, read.filters, self._mode)
        if not read.query.strip():
            self._asked = self._result = self._similar_to = None
            self._background.withdraw("search")
            self._background.withdraw("panel")
            self._list.display_hits(
                (), heading=[Content.styled("Type to search. ? for help.", self._look.styles.faint)]
            )
            self._say("" if self._is_ready else "starting")
        elif asked != self._asked and self._is_ready:
            self._asked = asked
            self._background.withdraw("panel")  # what is asked of the old list must not take the place of the new one
            self._background.submit("search", lambda: self.service.search(asked), self._answered)
        if self._is_ready:
            self._later("look again", LOOK_AGAIN_S, self._ask_again)

    def _answered(self, result: SearchResult | Exception) -> None:
        if isinstance(result, Exception):  # often of a filter that is not typed to its end: no more than a remark
            self._say(sanitise(said(result)))
            return
        self._similar_to = None
        self._result = result
        self._show_result(keep=False)
        self.call_after_refresh(self._note_drawn)

    def _note_drawn(self) -> None:
        self.drawn_at = time.perf_counter()

    def _ask_again(self) -> None:
        """Asks once the hands rest what has changed on disk since."""
        asked = self._asked or Asked("", Filters(), Mode.HYBRID)
        if not self._is_ready:
            return

        def done(answer: tuple[SearchResult, int | None] | Exception) -> None:
            if isinstance(answer, Exception):
                self._say(sanitise(said(answer)))
                return
            result, self._behind = answer
            self._snapshot = result.snapshot
            if self._asked == asked and self._result is not None and result.hits != self._result.hits:
                self._result = result
                if self._similar_to is None:
                    self._show_result(keep=True)
            self._show_state()

        self._background.submit("chores", lambda: self.service.look_again(asked), done)

    def on_app_focus(self) -> None:
        """Whoever comes back may have changed files."""
        self._ask_again()

    def action_mode(self, by: int) -> None:
        """The next way of searching."""
        modes = list(Mode)
        self._mode = modes[(modes.index(self._mode) + by) % len(modes)]
        self._show_mode(self._mode.value)
        self._ask()

    def action_older(self) -> None:
        """An earlier query."""
        self._set_query(self._history.older(self._field.value))

    def action_newer(self) -> None:
        """A later query."""
        self._set_query(self._history.newer())

    def _remember(self) -> None:
        self._history.add(self._field.value)

    # --- showing ---

    def _show_state(self) -> None:
        self._show_state_text(snapshot_text(self._snapshot, self._behind, self._look))

    def _show_result(self, *, keep: bool) -> None:
        result = self._result
        if result is None:
            return
        self._snapshot = result.snapshot
        heading: list[Content] = []
        if not result.hits:
            heading = laid_out(near_misses_layout(replace(result, near_misses=())), self._look)
            if result.near_misses:
                heading.append(Content.styled("Nearest:", self._look.styles.faint))
        self._list.display_hits(
            result.hits or result.near_misses, result.terms, heading=heading, are_near=not result.hits, keep=keep
        )
        self._say_count(len(result.hits), result.took_ms)
        self._show_state()

    def _say_count(self, count: int, took_ms: float) -> None:
        marks = f"{len(self._list.marks)} marked {self._look.glyphs.dot} " if self._list.marks else ""
        more = "+" if count in (FIRST_HITS, HITS) else ""
        self._say(f"{marks}{count}{more} {'hit' if count == 1 else 'hits'}, {took_ms:.0f} ms")

    def _progress(self, progress: Progress) -> None:
        """Called in the engine's thread."""
        self._background.check()
        now = time.monotonic()
        if now - self._progress_shown >= PROGRESS_S:
            self._progress_shown = now
            self.call_later(lambda: self._say(progress_text(progress, self._look)))

    # --- the list and the preview ---

    def action_mark(self) -> None:
        """Marks a hit and goes on to the next one."""
        self._list.toggle_mark()
        self._list.move(1)
        if self._result is not None:
            self._say_count(len(self._list.hits), self._result.took_ms)

    def on_hits_moved(self) -> None:
        """The preview follows, a little later."""
        self._later("preview", PREVIEW_S, self._ask_preview)

    def _ask_preview(self) -> None:
        hit = self._list.current
        if hit is None:
            self._background.withdraw("preview")
            self._preview.say("")
            return
        name = sanitise(hit.qualified_name or hit.symbol)
        self._look_at(Spot(hit.path, hit.start_line, hit.end_line, name, hit.language, hit.snippet.best))

    def _look_at(self, spot: Spot) -> None:
        terms = self._result.terms if self._result is not None else ()

        def done(lines: tuple[str, ...] | Exception) -> None:
            if isinstance(lines, Exception):
                self._preview.say(sanitise(said(lines)), spot)
            else:
                self._preview.show(spot, lines, terms)

        self._background.submit("preview", lambda: self.service.lines(spot.path), done)

    # --- what can be done with a hit ---

    def on_hits_opened(self) -> None:
        """A double click."""
        self.action_open()

    def action_open(self) -> None:
        """Opens what is chosen in the user's editor."""
        chosen = self._list.chosen
        if not chosen:
            return
        self._remember()
        if self.service.engine.repository.is_bare:
            self._complain(UsageError("A bare repository has no files to open.", "Open a clone of it."))
            return
        root = self.service.engine.repository.root
        places = [Place(f"{root}/{hit.path}", line_of(hit)) for hit in chosen]
        try:
            command = opening.command_for(self._environment, places)
            opening.run(command, root, self._environment, self._suspended())
        except CodesearchError as error:
            self._complain(error)
        self._ask_again()

    @contextmanager
    def _suspended(self) -> Iterator[None]:
        """The terminal is another program's, and so is Ctrl-C, which reaches every process that is on it."""
        if self.is_headless:  # without a terminal there is nothing to give away
            yield
            return
        loop = asyncio.get_running_loop()
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, lambda *_: None)  # not SIG_IGN, which the program would inherit
        try:
            with self.suspend():
                yield
        finally:
            loop.call_later(INTERRUPTS_PASS_S, self._heed_interrupts)

    def action_copy_citation(self) -> None:
        """Puts `path:start-end` on the clipboard, by the terminal."""
        self._copy("\n".join(map(citation, self._list.chosen)), "citation")

    def action_copy_code(self) -> None:
        """Puts the code on the clipboard, by the terminal."""
        chosen = self._list.chosen

        def code() -> str:
            return "\n\n".join(
                "\n".join(self.service.lines(hit.path)[hit.start_line - 1 : hit.end_line]) for hit in chosen
            )

        self._in_panel(code, lambda text: self._copy(text, "code"))

    def _copy(self, text: str, what: str) -> None:
        if text:
            self._remember()
            self.copy_to_clipboard(text)
            self.notify(f"Copied the {what}.", timeout=2)

    def action_around(self) -> None:
        """Shows the declaration around what the preview shows."""
        spot = self._preview.spot
        if spot is None:
            return

        def done(found: Declaration) -> None:
            self._look_at(_spot_of(found, spot))

        self._in_panel(lambda: self.service.around(spot.path, spot.start_line, spot.end_line), done)

    def action_outline(self) -> None:
        """Lists the declarations of the file; the chosen one is shown in the preview."""
        spot = self._preview.spot
        if spot is None:
            return

        def done(outline: FileOutline) -> None:
            lines = [each.span.start_line for each in outline.declarations]
            current = max((index for index, line in enumerate(lines) if line <= spot.start_line), default=0)

            def chosen(index: int | None) -> None:
                if index is not None:
                    self._look_at(_spot_of(outline.declarations[index], spot))

            self.push_screen(Outline(outline, current, self._look), chosen)

        self._in_panel(lambda: self.service.outline(spot.path), done)

    def action_similar(self) -> None:
        """Lists the declarations that are like the current one."""
        hit = self._list.current
        if hit is None:
            return
        filters = self._asked.filters if self._asked is not None else Filters()

        def done(hits: tuple[Hit, ...]) -> None:
            self._similar_to = hit
            name = sanitise(hit.symbol or citation(hit))
            heading = Content.assemble(
                "Like ", (name, self._look.styles.symbol), ("  Esc: back", self._look.styles.faint)
            )
            self._list.display_hits(hits, heading=[heading])
            self._say(f"{len(hits)} alike")

        self._in_panel(lambda: self.service.similar(hit, filters), done)

    def action_why(self) -> None:
        """Shows what put the current hit where it is."""
        hit, asked, look = self._list.current, self._asked, self._look
        if hit is None or asked is None:
            return
        if asked.mode is not Mode.HYBRID or self._similar_to is not None:
            self.push_screen(
                Panel(citation(hit), [Content(f"{name}  {value:.3f}") for name, value in hit.signals.items()])
            )
            return

        def done(found: Explanation) -> None:
            of_hit = [each for each in found.hits if key_of(each.hit) == key_of(hit)]
            lines = laid_out(explanation_layout(replace(found, hits=tuple(of_hit))), look)
            self.push_screen(Panel("Why it is here", lines))

        self._in_panel(lambda: self.service.explain(asked), done)

    def _in_panel(self, work: Callable[[], Result], done: Callable[[Result], object]) -> None:
        def answered(result: Result | Exception) -> None:
            if isinstance(result, Exception):
                self._complain(result)
            else:
                done(result)

        self._background.submit("panel", work, answered)


def _spot_of(declaration: Declaration, near: Spot) -> Spot:
    span = declaration.span
    return replace(near, start_line=span.start_line, end_line=span.end_line, name=sanitise(declaration.qualified_name))
