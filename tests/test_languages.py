"""Languages other than English: their words, their questions and the ends of their sentences."""

from __future__ import annotations

import pytest

from wikigr.errors import UsageError
from wikigr.index.lexical import LexicalWriter, stems
from wikigr.languages import ENGLISH, language_named, language_of
from wikigr.question.answer_type import answer_type
from wikigr.question.question import content_stems
from wikigr.segmentation import sentence_spans

DESCRIBED = ("de", "es", "fr", "it", "nl", "pt", "ru")


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("de", "German"),
        ("de-AT", "German"),
        ("DEU", "German"),
        ("pt_BR", "Portuguese"),
        ("zho", "Chinese"),
        ("eng", "English"),
    ],
)
def test_codes_of_all_standards_name_a_language(code: str, name: str) -> None:
    assert language_of(code).name == name


def test_an_unknown_language_keeps_its_words_and_a_wrong_code_is_refused() -> None:
    assert language_of("eo").tokens("La granda domo") == ["La", "granda", "domo"]
    for code in ("", "german", "1", "../etc"):
        with pytest.raises(UsageError, match="not the code of a language"):
            language_of(code)


def test_only_codes_of_languages_can_be_given() -> None:
    for code in ("de", "pt-BR", "zho", "eo", "gsw"):
        assert language_named(code) is language_of(code)
    for code in ("xx", "qqq"):
        with pytest.raises(UsageError, match="No language has the code"):
            language_named(code)


def test_the_known_parts_of_a_language() -> None:
    assert all(language_of("de").known_parts.values()) and all(ENGLISH.known_parts.values())
    assert [part for part, known in language_of("tr").known_parts.items() if not known] == [
        "stop words",
        "question words",
    ]
    assert not any(language_of("eo").known_parts.values())


def test_scripts_without_spaces_are_split_into_pairs_of_characters() -> None:
    assert language_of("zh").tokens("用 apt-get 安装软件包") == ["用", "apt", "get", "安装", "装软", "软件", "件包"]
    assert language_of("th").tokens("ภาษาไทย")[:2] == ["ภา", "าษ"]
    # The same letters in text of another language are one word.
    assert ENGLISH.tokens("安装软件包 works") == ["安装软件包", "works"]


@pytest.mark.parametrize(
    ("code", "one", "other"),
    [
        ("de", "Häuser", "Hauses"),
        ("es", "instalar", "instalaciones"),
        ("fr", "installations", "installation"),
        ("it", "gatti", "gatto"),
        ("nl", "katten", "kat"),
        ("pt", "gatos", "gato"),
        ("ru", "книгами", "книга"),
    ],
)
def test_forms_of_a_word_have_one_stem(code: str, one: str, other: str) -> None:
    assert stems(one, language_of(code))[0][:5] == stems(other, language_of(code))[0][:5]


def test_the_content_of_a_question_has_no_function_words() -> None:
    for code, question, content in (
        ("de", "Wie kann ich die Festplatte löschen?", 2),
        ("fr", "Comment est-ce que je peux effacer le disque ?", 2),
        ("es", "¿Cómo puedo borrar el disco?", 2),
        ("ru", "Как можно очистить диск?", 2),
    ):
        found = content_stems(question, language_of(code))
        assert len(found) == content, found


@pytest.mark.parametrize("code", DESCRIBED)
def test_questions_for_dates_numbers_and_reasons_are_recognized(code: str) -> None:
    asked = {
        "de": ("Wann wurde es gebaut?", "Wie viele sind es?", "Warum ist es so?", "am 3. Oktober"),
        "es": ("¿Cuándo fue construido?", "¿Cuántos hay?", "¿Por qué es así?", "el 3 de octubre"),
        "fr": ("Quand a-t-il été construit ?", "Combien y en a-t-il ?", "Pourquoi est-ce ainsi ?", "le 3 octobre"),
        "it": ("Quando fu costruito?", "Quanti sono?", "Perché è così?", "il 3 ottobre"),
        "nl": ("Wanneer is het gebouwd?", "Hoeveel zijn er?", "Waarom is het zo?", "op 3 oktober"),
        "pt": ("Quando foi construído?", "Quantos são?", "Por que é assim?", "em 3 de outubro"),
        "ru": ("Когда это построено?", "Сколько их?", "Почему это так?", "3 октября"),
    }[code]
    found = [answer_type(question, language_of(code)) for question in asked[:3]]
    assert [kind.name for kind in found if kind is not None] == ["date", "number", "reason"]
    assert found[0] is not None and found[0].found_by.search(asked[3])
    # English rules do not apply to them, and theirs not to English.
    assert answer_type("Wann wurde es gebaut?") is None


@pytest.mark.parametrize(
    ("code", "text", "sentences"),
    [
        ("zh", "他住在北京。你好吗？很好！", ["他住在北京。", "你好吗？", "很好！"]),
        ("ja", "これは本です。「はい。」と言った。", ["これは本です。", "「はい。」", "と言った。"]),
        ("de", "Man nimmt z. B. Wasser. Danach ruht es.", ["Man nimmt z. B. Wasser.", "Danach ruht es."]),
        (
            "de",
            "Am 3. Mai kam er. Es war 1911. Danach ging er.",
            ["Am 3. Mai kam er.", "Es war 1911.", "Danach ging er."],
        ),
        ("fr", "M. Dupont est arrivé. Il pleut.", ["M. Dupont est arrivé.", "Il pleut."]),
    ],
)
def test_sentences_end_where_they_do_in_the_language(code: str, text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text, language_of(code))] == sentences


def test_an_index_finds_other_forms_of_a_word() -> None:
    for code, content, query in (
        ("de", "Die Festplatten werden gelöscht.", "Festplatte"),
        ("ru", "Системные книги лежат на столах.", "книга на столе"),
        ("zh", "请使用命令安装软件包。", "软件包"),
    ):
        with LexicalWriter(None, language_of(code)) as writer:
            writer.add("a", "A", "", content)
            writer.add("b", "B", "", "xyz")
        writer.index.reload()
        parsed = writer.index.parse_query(" ".join(language_of(code).tokens(query.lower())), ["content"])
        assert writer.index.searcher().search(parsed, 5).hits, code
