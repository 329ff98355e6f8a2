"""Training learns, resumes to the same result and repeats itself."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from training.config import Config, Phase
from training.examples import Example
from training.features import Batch, Feature, collate, make_features
from training.model import SpanReader
from training.train import learning_rate, shared_loss, span_loss, train
from wikigr.reader.windows import WindowMaker

CONFIG = Config(base="small", phases=(), rank=4, batch_size=4, checkpoint_steps=5, bfloat16=False, threads=1)
PHASE = Phase("first", (("general", 0),), ((0, 0.0), (2, 5e-3), (12, 0.0)), 1.0)


@pytest.fixture
def features(maker: WindowMaker) -> list[Feature]:
    draw = random.Random(0)
    examples = []
    for number in range(30):
        year = str(draw.randrange(1800, 1999))
        text = f"It was a day in {year} when they met."
        start = text.index(year)
        asked, spans = ("When did they meet?", ((start, start + 4),)) if number % 3 else ("Who sang?", ())
        examples.append(Example("test", "answer", str(number), asked, "Meeting", "", text, (year,), spans))
    return make_features(examples, maker)


def _equal(one: SpanReader, two: SpanReader) -> bool:
    others = two.adapter()
    return all(torch.equal(tensor, others[name]) for name, tensor in one.adapter().items())


def test_resuming_gives_the_same_model(features: list[Feature], tiny_bert: Path, tmp_path: Path) -> None:
    whole = train(features, tiny_bert, 0, tmp_path / "whole", CONFIG, PHASE)
    train(features, tiny_bert, 0, tmp_path / "parts", CONFIG, PHASE, stop_at=7)
    torch.manual_seed(99)
    resumed = train(features, tiny_bert, 0, tmp_path / "parts", CONFIG, PHASE)
    assert _equal(whole, resumed)
    fresh = train(features, tiny_bert, 0, tmp_path / "other", replace(CONFIG, seed=8), PHASE)
    assert not _equal(whole, fresh)


def test_an_interrupted_training_continues_at_its_last_checkpoint(
    features: list[Feature], tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = train(features, tiny_bert, 0, tmp_path / "whole", CONFIG, PHASE)
    losses = iter(range(8))

    def interrupt(*arguments: object) -> torch.Tensor:
        if next(losses, None) is None:
            raise KeyboardInterrupt
        return span_loss(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("training.train.span_loss", interrupt)
        train(features, tiny_bert, 0, tmp_path / "parts", CONFIG, PHASE)
    assert _equal(whole, train(features, tiny_bert, 0, tmp_path / "parts", CONFIG, PHASE))


def test_other_settings_do_not_continue_a_run(features: list[Feature], tiny_bert: Path, tmp_path: Path) -> None:
    train(features, tiny_bert, 0, tmp_path / "run", CONFIG, PHASE, stop_at=1)
    with pytest.raises(ValueError, match="other settings"):
        train(features, tiny_bert, 0, tmp_path / "run", replace(CONFIG, rank=5), PHASE)
    with pytest.raises(ValueError, match="other settings"):
        train(features, tiny_bert, 0, tmp_path / "run", CONFIG, replace(PHASE, teaching=0.5))


def test_a_finished_training_can_be_made_longer(features: list[Feature], tiny_bert: Path, tmp_path: Path) -> None:
    longer = replace(PHASE, learning_rates=(*PHASE.learning_rates, (14, 4e-3), (18, 0.0)))
    train(features, tiny_bert, 0, tmp_path / "run", CONFIG, PHASE)
    extended = train(features, tiny_bert, 0, tmp_path / "run", CONFIG, longer)
    assert _equal(extended, train(features, tiny_bert, 0, tmp_path / "whole", CONFIG, longer))
    other = replace(PHASE, learning_rates=((0, 0.0), (2, 4e-3), (30, 0.0)))
    with pytest.raises(ValueError, match="other settings"):
        train(features, tiny_bert, 0, tmp_path / "run", CONFIG, other)


def test_another_phase_starts_from_the_adapter_of_the_first(
    features: list[Feature], tiny_bert: Path, tmp_path: Path
) -> None:
    first = train(features, tiny_bert, 0, tmp_path / "run", CONFIG, PHASE)
    still = replace(PHASE, name="second", learning_rates=((0, 0.0), (1, 0.0)))
    assert CONFIG.at(1).seed == CONFIG.seed + 1
    second = train(features[:8], tiny_bert, 0, tmp_path / "second", CONFIG.at(1), still, start=first.adapter())
    # A step at the rate 0 changes nothing.
    assert _equal(first, second)


def test_only_the_adapter_and_the_head_change(features: list[Feature], tiny_bert: Path, tmp_path: Path) -> None:
    trained = train(features, tiny_bert, 0, tmp_path / "run", CONFIG, PHASE).state_dict()
    torch.manual_seed(CONFIG.seed)
    before = SpanReader(tiny_bert, rank=CONFIG.rank, scale=CONFIG.scale).state_dict()
    changed = {name for name, tensor in before.items() if not torch.equal(tensor, trained[name])}
    assert changed == {name for name in before if name.endswith((".up", ".down")) or name.startswith("head.")}
    assert len(changed) == 2 * 6 * 2 + 2


def test_learning_rate_rises_and_falls() -> None:
    rates = [learning_rate(step, PHASE) for step in range(13)]
    assert rates[0] == rates[12] == 0
    assert rates[2] == max(rates) == 5e-3
    assert rates[7] == pytest.approx(2.5e-3)


def test_the_teacher_moves_the_student(features: list[Feature], tiny_bert: Path, tmp_path: Path) -> None:
    """The teacher is certain of the first token of every window, which the labels never name for answers."""
    certain = [replace(feature, taught=_certain_of_nothing(feature)) for feature in features]
    rates = ((0, 5e-3), (120, 0.0))
    labeled, taught = (
        train(certain, tiny_bert, 0, tmp_path / name, CONFIG, replace(PHASE, learning_rates=rates, teaching=weight))
        for name, weight in (("labeled", 0.0), ("taught", 1.0))
    )
    batch = collate(certain, 0)
    none = [
        float(model(batch.input_ids, batch.token_types, batch.mask).softmax(1)[:, 0].mean().detach())
        for model in (labeled, taught)
    ]
    assert none[1] > 0.9 > none[0]


def test_windows_that_no_teacher_read_keep_their_labels(features: list[Feature]) -> None:
    batch = collate([features[0], replace(features[1], taught=_certain_of_nothing(features[1]))], 0)
    logits = torch.zeros(*batch.input_ids.shape, 2)
    assert batch.taught is not None
    assert not batch.taught[0].any()
    assert batch.taught[1, 0].tolist() == [1.0, 1.0]
    assert float(span_loss(logits, batch, 1.0)) == pytest.approx(float(span_loss(logits, batch)))


@pytest.fixture
def together(maker: WindowMaker) -> list[Feature]:
    """Two questions: one with an answer and a window without it, one without an answer."""
    texts = ("They met in 1900 in Ulm.", "They parted in 1910, or so.", "They met in 1900 in Ulm.")
    asked = ("When did they meet?", "When did they meet?", "Who sang?")
    return make_features(
        [
            Example("test", "", "", question, "", "", text, ("1900",), ((12, 16),) if number == 0 else ())
            for number, (question, text) in enumerate(zip(asked, texts, strict=True))
        ],
        maker,
    )


def test_windows_of_a_question_compete_by_their_margins(together: list[Feature]) -> None:
    batch = collate(together, 0)
    assert batch.questions.tolist() == [0, 0, 1]
    logits = torch.randn(*batch.input_ids.shape, 2, generator=torch.Generator().manual_seed(1))
    expected = []
    for side, target in ((0, together[0].starts), (1, together[0].ends)):
        margins = [
            torch.exp(logits[row, slice(*together[row].text), side] - logits[row, 0, side]).sum() for row in (0, 1)
        ]
        right = torch.exp(logits[0, target[0], side] - logits[0, 0, side])
        expected.append(-torch.log(right / sum(margins)))
    assert float(shared_loss(logits, batch)) == pytest.approx(float(torch.stack(expected).mean()), rel=1e-5)
    # No answer in the other window helps, in the window of the answer it hurts, and another question does not matter.
    before = float(shared_loss(logits, batch))
    changes = []
    for row in range(3):
        sure = logits.clone()
        sure[row, 0] += 1
        changes.append(float(shared_loss(sure, batch)) - before)
    assert changes[0] > 0.01
    assert changes[1] < -0.01
    assert changes[2] == 0


def test_questions_without_an_answer_do_not_compete(together: list[Feature]) -> None:
    batch = collate(together[1:], 0)
    assert float(shared_loss(torch.randn(*batch.input_ids.shape, 2), batch)) == 0


def test_with_the_shared_loss_a_batch_has_whole_questions(
    features: list[Feature], tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    phase = replace(PHASE, shared=1.0)
    grouped = [replace(feature, question=number // 3) for number, feature in enumerate(features)]
    read: list[list[int]] = []

    def recorded(logits: torch.Tensor, batch: Batch) -> torch.Tensor:
        read.append(batch.questions.tolist())
        return shared_loss(logits, batch)

    with monkeypatch.context() as patched:
        patched.setattr("training.train.shared_loss", recorded)
        train(grouped, tiny_bert, 0, tmp_path / "whole", CONFIG, phase)
    assert len(read) == PHASE.steps
    assert all(questions.count(question) == 3 for questions in read for question in questions)


def _certain_of_nothing(feature: Feature) -> np.ndarray:
    taught = np.zeros((len(feature.input_ids), 2), np.float16)
    taught[0] = 1.0
    return taught
