"""Targets are the tokens of the answer, and batches depend only on the seed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from training.examples import Example
from training.features import collate, epoch_batches, make_features, token_spans
from wikigr.reader.windows import WindowMaker

TEXT = "The physicist Einstein was born in Ulm in 1879. " + "He wrote about light and time. " * 8 + "He died in 1955."


def _example(answer: str, kind: str = "answer") -> Example:
    start = TEXT.find(answer)
    spans = ((start, start + len(answer)),) if start >= 0 else ()
    return Example("test", kind, "1", "When was Einstein born?", "Ulm 1879", "", TEXT, (answer,), spans)


def test_targets_map_back_to_the_answer(maker: WindowMaker) -> None:
    example = _example("1955")
    windows = maker.windows(example.question, example.title, example.heading, example.text)
    assert len(windows) > 2
    found = 0
    for window in windows:
        for first, last in token_spans(window, example.spans):
            found += 1
            start = window.offsets[first - window.text_start][0]
            end = window.offsets[last - window.text_start][1]
            assert TEXT[start:end] == "1955"
    assert found == 1


def test_the_answer_is_never_in_the_title(maker: WindowMaker) -> None:
    (feature, *_) = make_features([_example("1879")], maker)
    window = maker.windows("When was Einstein born?", "Ulm 1879", "", TEXT)[0]
    assert feature.starts[0] >= window.text_start


def test_a_window_without_the_answer_points_to_position_0(maker: WindowMaker) -> None:
    with_answer, without = make_features([_example("1879")], maker)
    assert with_answer.starts != (0,)
    assert without.starts == without.ends == (0,)
    assert all(feature.starts == (0,) for feature in make_features([_example("Bohr", "search")], maker))


def test_padding_is_masked(maker: WindowMaker) -> None:
    features = make_features([_example("1879"), _example("1955")], maker)
    batch = collate(features, pad_id=0)
    for row, feature in enumerate(features):
        assert int(batch.mask[row].sum()) == len(feature.input_ids)
        assert batch.starts[row].nonzero().flatten().tolist() == list(feature.starts)
        assert batch.token_types[row].tolist().index(1) == feature.text_type_start


@given(st.lists(st.tuples(st.integers(5, 99), st.integers(0, 40)), max_size=200), st.integers(1, 9))
def test_windows_of_a_question_share_a_batch(windows: list[tuple[int, int]], size: int) -> None:
    lengths, questions = [length for length, _ in windows], [question for _, question in windows]
    batches = list(epoch_batches(lengths, size, "seed", questions))
    assert sorted(n for batch in batches for n in batch) == list(range(len(windows)))
    asked = [{questions[n] for n in batch} for batch in batches]
    assert sum(map(len, asked)) == len(set(questions))
    assert all(len(batch) <= size or len(found) == 1 for batch, found in zip(batches, asked, strict=True))


@given(st.lists(st.integers(5, 99), max_size=300), st.integers(1, 9), st.text(max_size=5))
def test_an_epoch_reads_every_window_once(lengths: list[int], size: int, seed: str) -> None:
    batches = list(epoch_batches(lengths, size, seed))
    assert sorted(n for batch in batches for n in batch) == list(range(len(lengths)))
    assert all(len(batch) <= size for batch in batches)
    assert batches == list(epoch_batches(lengths, size, seed))
