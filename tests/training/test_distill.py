"""Training by the clock, teaching, and means of adapters."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from training.adapter import read_adapter
from training.distill import (
    PARTS,
    QUESTION_WINDOWS,
    QUESTIONS,
    TAUGHT,
    WINDOWS,
    Clock,
    Run,
    cut,
    main,
    mean_adapter,
    rate_at,
    teach_all,
    train_run,
)
from training.examples import Example, Passage
from training.measured import Measured
from training.model import SpanReader
from training.windows import DeviceWindows, Vocabulary, pack_examples, pack_questions, write_questions
from wikigr.reader.windows import WindowMaker

SMALL = Vocabulary(np.arange(30_522), 0, doubled=False)
SHARES = {"asked": 1.0, "general": 0.5}


def examples(count: int, word: str) -> list[Example]:
    draw = random.Random(word)
    made = []
    for number in range(count):
        year = str(draw.randrange(1800, 1999))
        text = f"It was a {word} in {year} when they met."
        start = text.index(year)
        asked, spans = ("When did they meet?", ((start, start + 4),)) if number % 3 else ("Who sang?", ())
        made.append(Example("test", "answer", "", f"{asked} {number}", "Meeting", "", text, (year,), spans))
    return made


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def folder(maker: WindowMaker, tiny_bert: Path, tokenizer_path: Path, tmp_path: Path) -> Path:
    """What ``pack`` writes, small, and the bases that are read."""
    asked, general = examples(24, "day"), examples(24, "week")
    arrays, names = pack_examples(
        [("asked", asked, [n / 24 for n in range(24)]), ("general", general, [0.0] * 24)], maker
    )
    questions = [
        Measured("asked, desk", "when", e.question, e.accepted, "", bool(e.spans), (Passage("Meeting", "", e.text),))
        for e in asked[:9]
    ]
    np.savez(tmp_path / WINDOWS, allow_pickle=False, **arrays)
    (tmp_path / PARTS).write_text(json.dumps(names))
    np.savez(tmp_path / QUESTION_WINDOWS, allow_pickle=False, **pack_questions(questions, maker))
    write_questions(tmp_path / QUESTIONS, questions)
    base = tmp_path / "small"
    shutil.copytree(tiny_bert, base)
    shutil.copy(tokenizer_path, base / "tokenizer.json")
    _write_mpnet(base, tmp_path / "large")
    return tmp_path


def _write_mpnet(small: Path, folder: Path) -> None:
    """An MPNet with random weights, whose pieces have the numbers of the real one."""
    from transformers import MPNetConfig, MPNetModel

    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    MPNetModel(MPNetConfig(vocab_size=30_527, max_position_embeddings=64, **sizes)).save_pretrained(folder)
    described = json.loads((small / "tokenizer.json").read_text(encoding="utf-8"))
    names = {"[CLS]": "<s>", "[PAD]": "<pad>", "[SEP]": "</s>"}
    own = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": 30_526}
    pieces = {t: n + 4 for t, n in described["model"]["vocab"].items() if t not in names}
    made = {"model": {"vocab": own | pieces}, "added_tokens": []}
    (folder / "tokenizer.json").write_text(json.dumps(made), encoding="utf-8")


def windows_of(folder: Path) -> tuple[DeviceWindows, dict[str, np.ndarray], list[str]]:
    arrays = dict(np.load(folder / WINDOWS))
    return DeviceWindows(arrays, SMALL, "cpu"), arrays, json.loads((folder / PARTS).read_text())


def test_rates_rise_and_fall_with_the_clock() -> None:
    rates = [rate_at(done / 100, 1.0) for done in range(101)]
    assert rates[0] == rates[100] == 0
    assert max(rates) == rates[4] == pytest.approx(1.0)
    assert rates[4:] == sorted(rates[4:], reverse=True)
    times = iter([10.0, 60.0, 110.0])
    clock = Clock(Run(rank=1, rate=1.0, seconds=100), 10.0, lambda: next(times))
    assert [clock.done(step) for step in range(3)] == [0.0, 0.5, 1.0]
    assert Clock(Run(rank=1, rate=1.0, steps=8), 0.0).done(2) == 0.25


def test_it_ends_and_repeats_itself(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.distill._CHECKED_STEPS", 6)
    windows, arrays, parts = windows_of(folder)
    torch.manual_seed(1)
    model = SpanReader(folder / "small", rank=4, scale=2.0)
    run = Run(bfloat16=False, rank=4, rate=1e-2, steps=24, shares=SHARES, shared=0.3, batch=8)
    log = train_run(model, windows, arrays, parts, run, Clock(run, 0.0))
    assert log["trained_steps"] == 24
    torch.manual_seed(1)
    again = SpanReader(folder / "small", rank=4, scale=2.0)
    assert train_run(again, windows, arrays, parts, run, Clock(run, 0.0))["losses"] == log["losses"] != []
    assert all(torch.equal(tensor, again.adapter()[name]) for name, tensor in model.adapter().items())
    over = Run(bfloat16=False, rank=4, rate=1e-2, seconds=1e-3, shares=SHARES)
    assert train_run(model, windows, arrays, parts, over, Clock(over, 0.0))["trained_steps"] == 0


def test_only_the_first_part_of_asked_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    windows, arrays, parts = windows_of(folder)
    read: set[int] = set()
    batch_of = windows.batch

    def recorded(rows: torch.Tensor, width: int) -> object:
        read.update(rows.tolist())
        return batch_of(rows, width)

    monkeypatch.setattr(windows, "batch", recorded)
    run = Run(bfloat16=False, rank=4, rate=1e-3, steps=30, shares={"asked": 1.0}, asked=0.5, batch=4)
    train_run(SpanReader(folder / "small", rank=4, scale=2.0), windows, arrays, parts, run, Clock(run, 0.0))
    expected = np.flatnonzero((arrays["part"] == parts.index("asked")) & (arrays["place"] < 0.5))
    assert read == set(expected.tolist())


def test_a_training_whose_loss_is_no_number_goes_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.distill._CHECKED_STEPS", 10)
    windows, arrays, parts = windows_of(folder)
    model = SpanReader(folder / "small", rank=4, scale=2.0)
    run = Run(bfloat16=False, rank=4, rate=1e30, steps=30, shares=SHARES, batch=4)
    train_run(model, windows, arrays, parts, run, Clock(run, 0.0))
    assert all(bool(tensor.isfinite().all()) for tensor in model.adapter().values())


def test_a_cut_of_full_rank_changes_nothing_and_of_less_is_the_nearest() -> None:
    draw = torch.Generator().manual_seed(3)
    up, down = torch.randn(20, 6, generator=draw).double(), torch.randn(6, 14, generator=draw).double()
    left, right = cut(up, down, 6)
    assert torch.allclose(left @ right, up @ down)
    left, right = cut(up, down, 2)
    u, s, v = torch.linalg.svd(up @ down)
    assert torch.allclose(left @ right, u[:, :2] * s[:2] @ v[:2], atol=1e-9)
    assert torch.allclose(left.norm(dim=0), right.norm(dim=1))


def test_a_mean_is_that_of_the_weights(folder: Path) -> None:
    adapters = []
    for seed, rank in ((1, 3), (2, 4)):
        model = SpanReader(folder / "small", rank=rank, scale=2.0)
        draw = torch.Generator().manual_seed(seed)
        adapters.append({name: torch.randn(t.shape, generator=draw) for name, t in model.adapter().items()})
    mean = mean_adapter([(1.0, adapters[0]), (3.0, adapters[1])], 7)
    for name in mean:
        if name.endswith(".up"):
            down = name.removesuffix(".up") + ".down"
            one, two = (a[name] @ a[down] for a in adapters)
            assert torch.allclose(mean[name] @ mean[down], 0.25 * one + 0.75 * two, atol=1e-4)
    assert torch.allclose(mean["head.bias"], 0.25 * adapters[0]["head.bias"] + 0.75 * adapters[1]["head.bias"])


def test_what_is_taught_is_what_the_model_says(folder: Path) -> None:
    windows, arrays, _ = windows_of(folder)
    model = SpanReader(folder / "small", rank=4, scale=2.0)
    taught = teach_all(model, windows, arrays, bfloat16=False)
    row = len(windows) - 1
    batch = windows.batch(torch.tensor([row]), 48)
    expected = model(batch.input_ids, batch.token_types, batch.mask).softmax(1)[0].detach()
    first, last = arrays["first"][row : row + 2]
    assert np.allclose(taught[first:last], expected[: last - first].numpy(), atol=0.02)
    assert np.allclose(taught[first:last].astype(float).sum(0), 1, atol=0.01)


def test_every_command_runs(folder: Path) -> None:
    common = [str(folder), "--small", str(folder / "small"), "--device", "cpu", "--output", str(folder / "out")]
    large = ["--large", str(folder / "large")]
    teacher = {"bfloat16": False, "rank": 2, "rate": 1e-3, "steps": 3, "shares": SHARES, "shared": 0.2, "dropout": 0.1}
    main(["teach", *common, *large, "--name", "base", "--run", json.dumps(teacher)])
    assert (folder / TAUGHT).exists()
    pupil = {"bfloat16": False, "rank": 3, "rate": 1e-3, "seconds": 0.5, "shares": SHARES, "teaching": 0.7}
    main(["student", *common, "--name", "a", "--run", json.dumps(pupil)])
    assert len(read_adapter(folder / "out" / "a.safetensors")) == 2 * 12 + 2
    again = ["--start", str(folder / "out" / "a.safetensors"), "--lengths", "[[15, 0.1], [30, 0.1]]"]
    main(["student", *common, *again, "--name", "b", "--run", json.dumps(pupil)])
    pairs = [f"--adapter={folder / 'out' / name}.safetensors=0.5" for name in "ab"]
    main(["mean", *common, *pairs, "--name", "ab", "--run", json.dumps({"rank": 3, "rate": 0})])
    written = json.loads((folder / "out" / "b.json").read_text())
    assert written["figures"].keys() == {"15 tokens, 0.1", "30 tokens, 0.1"}
    assert written["figures"]["15 tokens, 0.1"]["asked, desk"]["questions"] == 6
    assert written["trained_steps"] > 0
    assert json.loads((folder / "out" / "ab.json").read_text())["mean"] == [["a", 0.5], ["b", 0.5]]
    main(
        [
            "mean",
            *common,
            *large,
            f"--adapter={folder / 'out' / 'base'}.safetensors=1",
            "--name",
            "base1",
            "--run",
            json.dumps({"bfloat16": False, "rank": 2, "rate": 0}),
        ]
    )
    assert json.loads((folder / "out" / "base1.json").read_text())["base_model"].endswith("mpnet-base-v2")
