"""Copies in a whole repository: what is a group, what is listed once, and what the command prints."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from git_helpers import commit, git, init, write
from test_cli_process import codesearch

from codesearch import Engine
from codesearch.duplication import likeness, shingles
from codesearch.settings import Settings
from codesearch.sketching import sketch
from codesearch.types import Filters, Kind

KILN = '''\
def fire_kiln(temperature, hours):
    """Heats the kiln step by step, holds it, and lets it cool down."""
    for step in range(0, temperature, 50):
        set_burner(step)
        wait_until(read_pyrometer() >= step)
    hold(hours)
    while read_pyrometer() > 40:
        vent(1)
        log_state("cooling", read_pyrometer())
    if humidity() > 0.4 or draught() < 2:
        warn_potter("the glaze may crack while the door is open")
        close_damper(slowly=True)
    open_door()
    return temperature
'''
GLAZE = '''\
def mix_glaze(feldspar, silica, chalk):
    """Weighs the powders, adds water and stirs until it runs like cream."""
    bucket = Bucket(feldspar + silica + chalk)
    bucket.fill(water=0.6 * bucket.weight)
    while bucket.viscosity() > 1.2:
        bucket.stir(seconds=20)
    return bucket.sieved(mesh=80)
'''
THROW = "def throw(clay):\n    centre(clay)\n    open_up(clay)\n    pull_walls(clay)\n    return clay\n"


def indented(code: str) -> str:
    return "".join("    " + line if line.strip() else line for line in code.splitlines(True))


def class_of(name: str, *methods: str) -> str:
    return f'class {name}:\n    """Makes pots."""\n\n' + "\n".join(map(indented, methods))


def groups_of(root: Path, **how) -> list[list[str]]:
    """Each group as citations with names."""
    found = Engine.open(root, Settings()).duplicates(**how)
    return [
        [f"{place.path}:{place.start_line}-{place.end_line} {place.qualified_name}" for place in group.places]
        for group in found
    ]


def test_copies_are_one_group_whatever_their_indentation_and_the_largest_waste_comes_first(tmp_path: Path) -> None:
    files = {
        "a.py": f"import clay\n\n{THROW}\n\n{KILN}",
        "b.py": f"{class_of('Potter', KILN)}",
        "c.py": f"{KILN}\n\nWHEELS = [\n    1,\n    2,\n    3,\n    4,\n]\n\n\n{THROW}",
    }
    root = init(tmp_path / "pots", files)
    assert groups_of(root) == [
        ["a.py:10-23 fire_kiln", "b.py:4-17 Potter.fire_kiln", "c.py:1-14 fire_kiln"],
        ["a.py:3-7 throw", "c.py:25-29 throw"],
    ]
    kilns, throws = Engine.open(root, Settings()).duplicates()
    assert (kilns.waste, throws.waste) == (28, 5)
    assert kilns.is_exact


def test_many_copies_of_little_come_before_two_of_more(tmp_path: Path) -> None:
    files = {f"{name}.py": f"{name} = 1\n\n\n{THROW}" for name in "abcd"}
    root = init(tmp_path / "waste", files | {"e.py": f"{KILN}\nE = 1\n", "f.py": f"{KILN}\nF = 1\n"})
    found = Engine.open(root, Settings()).duplicates(filters=Filters(kinds=(Kind.FUNCTION,)))
    assert [(group.places[0].symbol, len(group.places), group.waste) for group in found] == [
        ("throw", 4, 15), ("fire_kiln", 2, 14),
    ]  # fmt: skip


def test_a_near_copy_of_another_name_is_in_the_group_and_says_how_near_it_is(tmp_path: Path) -> None:
    renamed = KILN.replace("fire_kiln", "heat_kiln")
    root = init(tmp_path / "near", {"a.py": f"A = 1\n\n\n{KILN}", "b.py": f"{GLAZE}\n\n{renamed}"})
    (group,) = Engine.open(root, Settings()).duplicates()
    first, second = group.places
    assert (first.symbol, first.likeness, second.symbol) == ("fire_kiln", 1, "heat_kiln")
    assert second.likeness == round(likeness(shingles(KILN.split("\n")), shingles(renamed.split("\n"))), 4)
    assert 0.9 <= second.likeness < 1
    assert not group.is_exact
    assert groups_of(root, exact=True) == []


def test_one_other_sign_is_no_exact_copy(tmp_path: Path) -> None:
    root = init(tmp_path / "sign", {"a.py": f"A = 1\n\n\n{KILN}", "b.py": f"B = 2\n\n\n{KILN.replace('>=', '<')}"})
    (group,) = Engine.open(root, Settings()).duplicates()
    assert not group.is_exact
    assert groups_of(root, exact=True) == []


def test_what_lies_in_a_listed_copy_is_not_listed_again(tmp_path: Path) -> None:
    potter = class_of("Potter", KILN, GLAZE, THROW)
    files = {"a.py": f"A = 1\n\n{potter}", "b.py": f"{potter}\nB = 2\n\n\n{GLAZE}"}
    root = init(tmp_path / "nested", files)
    assert groups_of(root) == [
        ["a.py:3-33 Potter", "b.py:1-31 Potter"],
        ["a.py:21-27 Potter.mix_glaze", "b.py:36-42 mix_glaze"],  # the third place of that one is new
    ]


def test_copies_inside_one_class_are_listed_although_the_class_is_a_copy_itself(tmp_path: Path) -> None:
    potter = class_of("Potter", KILN, KILN.replace("fire_kiln", "heat_kiln"))
    root = init(tmp_path / "inside", {"a.py": f"A = 1\n\n{potter}", "b.py": f"{potter}\nB = 2\n"})
    assert groups_of(root) == [
        ["a.py:3-34 Potter", "b.py:1-32 Potter"],
        ["a.py:6-19 Potter.fire_kiln", "a.py:21-34 Potter.heat_kiln"],
    ]


def test_a_class_is_no_copy_of_its_only_method_and_a_copied_file_is_one_group(tmp_path: Path) -> None:
    alone = init(tmp_path / "alone", {"a.py": class_of("P", KILN), "b.txt": "one\n" * 9, "c.txt": "one\n" * 9})
    assert groups_of(alone) == []
    both = f"{KILN}\n\n{GLAZE}\n\n{THROW}"
    root = init(tmp_path / "files", {"a.py": both, "old/a.py": both, "z.py": both})
    (group,) = Engine.open(root, Settings()).duplicates()
    assert [(place.path, place.kind, place.end_line) for place in group.places] == [
        ("a.py", Kind.FILE, 30), ("old/a.py", Kind.FILE, 30), ("z.py", Kind.FILE, 30),
    ]  # fmt: skip


def test_filters_and_the_number_of_lines_decide_what_is_compared(tmp_path: Path) -> None:
    files = {"a.py": f"A = 1\n\n{KILN}\n\n{THROW}", "tests/b.py": f"{KILN}\n\nB = 2\n", "c.py": f"{THROW}\n\nC = 3\n"}
    root = init(tmp_path / "filters", files)
    kilns = ["a.py:3-16 fire_kiln", "tests/b.py:1-14 fire_kiln"]
    throws = ["a.py:19-23 throw", "c.py:1-5 throw"]
    assert groups_of(root) == [kilns, throws]
    assert groups_of(root, min_lines=6) == [kilns]
    assert groups_of(root, filters=Filters(tests=False)) == [throws]
    assert groups_of(root, filters=Filters(paths=("a.py", "tests"))) == [kilns]
    assert groups_of(root, filters=Filters(symbols=("throw",))) == [throws]
    assert groups_of(root, filters=Filters(kinds=(Kind.CLASS,))) == []
    assert groups_of(root, filters=Filters(languages=("go",))) == []


def test_edits_count_and_revisions_and_the_index_can_be_asked(tmp_path: Path) -> None:
    root = init(tmp_path / "states", {"a.py": f"A = 1\n\n{KILN}"})
    write(root, {"b.py": f"{KILN}\nB = 2\n"})
    pair = [["a.py:3-16 fire_kiln", "b.py:1-14 fire_kiln"]]
    assert groups_of(root) == pair  # b.py is not even known to git
    assert groups_of(root, staged=True) == []
    commit(root)
    write(root, {"b.py": GLAZE})
    assert groups_of(root) == []
    assert groups_of(root, at="HEAD") == pair
    git(tmp_path, "clone", "-q", "--bare", str(root), str(tmp_path / "bare"))
    assert groups_of(tmp_path / "bare") == pair
    write(root, {"c.py": f"C = 1\n\n{THROW}", "d.py": f"{THROW}\nD = 1\n", "e.py": f"{KILN}\nE = 1\n"})
    commit(root)
    throws = ["c.py:3-7 throw", "d.py:1-5 throw"]
    assert len(groups_of(root)) == 2
    assert groups_of(root, filters=Filters(changed="HEAD~1..HEAD")) == [throws]


def test_every_pair_that_comparing_all_would_find_is_found(tmp_path: Path) -> None:
    rng = random.Random(5)
    names = [f"{a}_{b}" for a in "fire hold vent cool warm".split() for b in "kiln pot jar bowl dish lid".split()]  # noqa: SIM905
    functions = []
    for number in range(40):
        lines = [f"    {rng.choice(names)} = {rng.choice(names)}({rng.choice(names)}, {at})" for at in range(40)]
        functions.append([f"def make_{number}():", *lines])
    for number in range(40):
        copy = list(functions[number])
        copy[0] = f"def remake_{number}():"
        for at in rng.sample(range(1, 41), number % 4):
            copy[at] = f"    pass  # {rng.choice(names)}"
        functions.append(copy)
    files = {f"{number:02}.py": "\n".join([f"X = {number}", "", *lines, ""]) for number, lines in enumerate(functions)}
    root = init(tmp_path / "many", files)
    said = [shingles(lines) for lines in functions]
    near = {
        frozenset((functions[one][0], functions[other][0]))
        for one, other in combinations(range(80), 2)
        if likeness(said[one], said[other]) >= 0.9
    }
    assert 20 <= len(near) <= 40
    found = Engine.open(root, Settings()).duplicates(filters=Filters(kinds=(Kind.FUNCTION,)))
    assert {frozenset(f"def {place.symbol}():" for place in group.places) for group in found} == near


def test_equal_texts_have_equal_sketches_wherever_they_stand() -> None:
    code = KILN.encode()
    files = [(b"x = 1\n" * number + code + b"tail", 6 * number) for number in (0, 3, 50_000)]
    sketches = sketch(iter([(raw, np.array([[at, at + len(code)]])) for raw, at in files]))
    assert len(set(sketches.fingerprints.tolist())) == 1
    assert (sketches.hashes == sketches.hashes[0]).all()
    swapped = code.replace(b"temperature, hours", b"hours, temperature")
    other = sketch(iter([(swapped, np.array([[0, len(swapped)]]))]))
    assert other.fingerprints[0] != sketches.fingerprints[0]
    assert 0.5 < (other.hashes == sketches.hashes[0]).mean() < 1


def test_strange_files_do_no_harm(tmp_path: Path) -> None:
    files = {
        "empty.py": "", "blank.py": "\n" * 40, "signs.py": "x = (\n" + "(\n" * 9 + ")\n" * 9 + ")\n",
        "crlf.py": f"A = 1\r\n\r\n{KILN}".replace("\n", "\r\n").replace("\r\r", "\r"), "lf.py": f"{KILN}\n\nB = 2\n",
        "größe.py": "def größe():\n" + "".join(f"    maß_{n} = 'Grüße aus Köln'\n" for n in range(9)),
        "ｗｉｄｅ.py": "def größe():\n" + "".join(f"    maß_{n} = 'Grüße aus Köln'\n" for n in range(9)) + "\nX = 1\n",
    }  # fmt: skip
    assert groups_of(init(tmp_path / "strange", files)) == [
        ["crlf.py:3-16 fire_kiln", "lf.py:1-14 fire_kiln"],
        ["größe.py:1-10 größe", "ｗｉｄｅ.py:1-10 größe"],
    ]


# --- the command ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pots(tmp_path_factory: pytest.TempPathFactory, hermetic: None) -> Path:
    renamed = KILN.replace("fire_kiln", "heat_kiln")
    files = {"src/a.py": f"A = 1\n\n{KILN}\n\n{THROW}", "src/b.py": f"{THROW}\n\n{renamed}"}
    return init(tmp_path_factory.mktemp("pots") / "pots", files)


def test_the_command_cites_every_place(pots: Path) -> None:
    done = codesearch(pots, "duplicates")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == (
        "14 duplicated lines, 2 near-copies\n"
        "  src/a.py:3-16  fire_kiln  function\n"
        "  src/b.py:8-21  heat_kiln  function  0.94\n"
        "\n"
        "5 duplicated lines, 2 exact copies\n"
        "  src/a.py:19-23  throw  function\n"
        "  src/b.py:1-5  throw  function\n"
    )
    one = codesearch(pots / "src", "duplicates", ".", "-k", "1", "--exact", "--kind", "function")
    assert one.stdout.decode().splitlines()[1:] == ["  a.py:19-23  throw  function", "  b.py:1-5  throw  function"]
    cut = codesearch(pots, "duplicates", "src/", "-k", "1")
    assert cut.stderr.decode() == "1 of 2 groups; -k N shows more.\n"


def test_the_document_has_all_of_it(pots: Path) -> None:
    document = json.loads(codesearch(pots, "duplicates", "--json", "-k", "1").stdout)
    assert (document["schema"], document["total"]) == (1, {"groups": 2, "duplicated_lines": 19})
    (group,) = document["groups"]
    assert (group["duplicated_lines"], group["exact"]) == (14, False)
    assert group["places"][0] == {
        "path": "src/a.py", "start_line": 3, "end_line": 16, "symbol": "fire_kiln", "qualified_name": "fire_kiln",
        "kind": "function", "language": "python", "likeness": 1.0,
    }  # fmt: skip


def test_none_is_exit_code_1_and_a_mistake_2(pots: Path) -> None:
    none = codesearch(pots, "duplicates", "--min-lines", "50")
    assert (none.returncode, none.stdout, none.stderr) == (1, b"", b"No copies of 50 lines or more were found.\n")
    wrong = codesearch(pots, "duplicates", "nowhere")
    assert (wrong.returncode, wrong.stderr.decode().splitlines()[0]) == (2, "Error: No such file or folder: nowhere")
    assert codesearch(pots, "duplicates", "--min-lines", "0").returncode == 2


def test_a_reader_that_goes_away_is_no_error(pots: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; '{sys.executable}' -m codesearch duplicates | true"],
        cwd=pots,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
