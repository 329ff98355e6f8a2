"""Windows hold the question, the title line and every part of the text, with exact offsets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from wikigr.reader.passage import WindowOptions
from wikigr.reader.windows import Window, WindowMaker

SMALL = WindowOptions(tokens=24, overlap=4, question_tokens=6, title_tokens=5)
TEXT = "Ångström's café — naïve “quotes” 東京 e=mc² \ud800 " + "\u0301"

texts = st.text(st.sampled_from(TEXT + "abc 12.\n"), max_size=200) | st.text(max_size=60)


def mpnet_tokenizer() -> Tokenizer:
    """Return a tokenizer into letters, with the special tokens of MPNet."""
    letters = "abcdefghijklmnopqrstuvwxyz?:·"
    vocabulary = ["<s>", "<pad>", "</s>", "[UNK]", *letters, *(f"##{letter}" for letter in letters)]
    tokenizer = Tokenizer(models.WordPiece({word: n for n, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "[UNK]"])
    return tokenizer


def _text(window: Window) -> list[int]:
    return window.input_ids[window.text_start : -1]


@pytest.fixture(scope="module")
def plain(tokenizer: Tokenizer) -> Tokenizer:
    """The tokenizer without truncation and padding."""
    copied = Tokenizer.from_str(tokenizer.to_str())
    copied.no_truncation()
    copied.no_padding()
    return copied


@settings(max_examples=150)
@given(question=texts, title=texts, heading=texts, text=texts)
def test_offsets_are_characters_of_the_section(
    tokenizer: Tokenizer, plain: Tokenizer, question: str, title: str, heading: str, text: str
) -> None:
    maker = WindowMaker(tokenizer, SMALL)
    for window in maker.windows(question, title, heading, text):
        assert len(window.input_ids) == len(window.token_types) <= SMALL.tokens
        assert len(_text(window)) == len(window.offsets)
        for token, (start, end) in zip(_text(window), window.offsets, strict=True):
            assert 0 <= start <= end <= len(text)
            piece = str(plain.id_to_token(token)).removeprefix("##")
            if text[start:end].isascii() and piece != "[UNK]":
                assert text[start:end].lower() == piece
        assert window.offsets == sorted(window.offsets)


@settings(max_examples=60)
@given(text=texts)
def test_windows_cover_the_whole_text_and_overlap(tokenizer: Tokenizer, text: str) -> None:
    windows = WindowMaker(tokenizer, SMALL).windows("Who was it?", "Title", "", text)
    whole = WindowMaker(tokenizer, WindowOptions(tokens=5_000)).windows("Who was it?", "Title", "", text)
    assert len(whole) == 1
    rebuilt = list(windows[0].offsets)
    for window in windows[1:]:
        assert window.offsets[: SMALL.overlap] == rebuilt[-SMALL.overlap :]
        rebuilt += window.offsets[SMALL.overlap :]
    assert rebuilt == whole[0].offsets


def test_format(tokenizer: Tokenizer) -> None:
    (window,) = WindowMaker(tokenizer).windows("Who was it?", "Normans", "History", "They were people.")
    tokens = [str(tokenizer.id_to_token(token)) for token in window.input_ids]
    expected = "[CLS] who was it ? [SEP] norman ##s · history : they were people . [SEP]"
    assert " ".join(tokens) == expected
    assert window.token_types == [0] * 6 + [1] * 10
    assert tokens[window.text_start] == "they"
    assert window.offsets[0] == (0, 4)


def test_format_of_mpnet() -> None:
    tokenizer = mpnet_tokenizer()
    options = WindowOptions(tokens=24, overlap=4, question_tokens=6, title_tokens=5)
    windows = WindowMaker(tokenizer, options).windows("a b?", "c", "d", "e f g h i j k l m n o")
    tokens = [[tokenizer.id_to_token(token) for token in window.input_ids] for window in windows]
    head = "<s> a b ? </s> </s> c · d :".split()
    assert tokens == [[*head, *"efghijklmno", "</s>"]]
    assert windows[0].token_types == [0] * 6 + [1] * 16
    assert tokens[0][windows[0].text_start] == "e"
    longer = WindowMaker(tokenizer, options).windows("a b?", "c", "d", "e f g h i j k l m n o p q r")
    assert [len(window.input_ids) for window in longer] == [24, 16]


@pytest.mark.parametrize("template", ["$A $B:1", "<s> $A $B:1 </s>:1", "$A </s> $B:1 </s>:1"])
def test_a_tokenizer_without_special_tokens_is_refused(template: str) -> None:
    tokenizer = mpnet_tokenizer()
    ends = [("<s>", 0), ("</s>", 2)]
    tokenizer.post_processor = processors.TemplateProcessing(single="$A", pair=template, special_tokens=ends)
    with pytest.raises(ValueError, match="around the parts of a pair"):
        WindowMaker(tokenizer)


def test_without_title(tokenizer: Tokenizer) -> None:
    (window,) = WindowMaker(tokenizer).windows("Who?", "", " ", "Text")
    assert [tokenizer.id_to_token(token) for token in window.input_ids] == "[CLS] who ? [SEP] text [SEP]".split()


def test_long_question_and_title_are_truncated(tokenizer: Tokenizer) -> None:
    windows = WindowMaker(tokenizer).windows("why " * 2_000, "title " * 500, "heading", "word " * 300)
    assert all(len(window.input_ids) <= 256 for window in windows)
    assert windows[0].text_start == 1 + 64 + 1 + 32 + 1


def test_a_line_of_50000_characters(tokenizer: Tokenizer) -> None:
    text = "".join(f"{number}," for number in range(9_000))[:50_000]
    windows = WindowMaker(tokenizer).windows("How many?", "List", "", text)
    assert windows[-1].offsets[-1][1] == len(text)


def test_empty_section(tokenizer: Tokenizer) -> None:
    (window,) = WindowMaker(tokenizer).windows("Who?", "Title", "", "")
    assert window.offsets == []
    assert len(window.input_ids) == window.text_start + 1


def test_no_room_for_text() -> None:
    with pytest.raises(ValueError, match="leaves no room"):
        WindowOptions(tokens=100, overlap=0, question_tokens=64, title_tokens=32)


def test_joined_letters_are_one_word(tokenizer: Tokenizer) -> None:
    text = "Davisson–Germer in 1927–1930, well-known."
    (window,) = WindowMaker(tokenizer).windows("Who?", "", "", text)
    words: dict[int, str] = {}
    for word, (start, end) in zip(window.words[1:-1], window.offsets, strict=True):
        words[word] = words.get(word, "") + text[start:end]
    assert list(words.values()) == ["Davisson–Germer", "in", "1927", "–", "1930", ",", "well-known", "."]
