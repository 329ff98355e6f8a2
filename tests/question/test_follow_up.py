"""Follow-up questions over the demo pack and over a table of facts, with the question that a person understands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikigr.errors import UsageError
from wikigr.pack.joined import open_packs
from wikigr.pack.open import Corpus
from wikigr.pipeline.conversation import pronouns_for, replay, understand
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile
from wikigr.question.antecedents import Mention
from wikigr.question.follow_up import may_refer_back, resolve
from wikigr.question.grammar import MAX_CHARS
from wikigr.question.referents import FindNames, Turn

# The turns before it, the question, and how it is understood: ``SAME`` if it names its own subject, and the words that
# refer to nothing after REFUSED.
SAME = "="
REFUSED = "!"
Dialog = tuple[tuple[Turn, ...], str, str]
PHYSICS = """
In which year was Werner Heisenberg born? | 1901 | Werner Heisenberg
    When did he die? -> When did Werner Heisenberg die?
    Who was his teacher? -> Who was Werner Heisenberg's teacher?
    And Dirac? -> In which year was Dirac born?
    When did she die? -> !she
What is the lowest salary in Norway? | | Salaries
    and in France? -> What is the lowest salary in France?
When did Marie Curie die? | 4 July 1934 | Marie Curie
    What did she discover? -> What did Marie Curie discover?
    Why? -> Why did Marie Curie die?
    How old was he? -> !he
Who published the Dirac equation? | Paul Dirac | Dirac equation
    What does it describe? -> What does the Dirac equation describe?
    When? -> When was it that Paul Dirac published the Dirac equation?
Who was Heisenberg's teacher? | Arnold Sommerfeld | Werner Heisenberg
    When was he born? -> When was Arnold Sommerfeld born?
What did Dirac publish in 1928? | the Dirac equation | Dirac equation
    Where is it carved on a plaque? -> Where is the Dirac equation carved on a plaque?
What is the uncertainty principle? | | Uncertainty principle
    Who stated it? -> Who stated the uncertainty principle?
What is a laser? | | Laser
    Who built the first one? -> =
What is the Bohr model? | | Bohr model
    What are its limits? -> What are the Bohr model's limits?
    Who proposed this model? -> Who proposed the Bohr model?
What is superconductivity? | | Superconductivity
    Who discovered it and when? -> Who discovered superconductivity and when?
What was the Stern–Gerlach experiment? | | Stern–Gerlach experiment
    Who did this experiment? -> Who did the Stern–Gerlach experiment?
What is quantum teleportation? | | Quantum teleportation
    What time is it? -> =
What were the Solvay Conferences? | | Solvay Conferences
    How many of them were there? -> How many of the Solvay Conferences were there?
Who measured the wavelength of the electron? | Clinton Davisson and Lester Germer | Davisson–Germer experiment
    Where did they work? -> Where did Clinton Davisson and Lester Germer work?
Which elements did Marie Curie announce in 1898? | polonium and radium | Marie Curie
    How did she find them? -> How did Marie Curie find polonium and radium?
When did Fermi start the first reactor? | 2 December 1942 | Enrico Fermi
    Where did Heisenberg work then? -> Where did Heisenberg work on 2 December 1942?
Where did Pauli die? | Zurich | Wolfgang Pauli
    When did he move there? -> When did Wolfgang Pauli move to Zurich?
When did Max Born die? | 5 January 1970 | Max Born
    and where? -> Where did Max Born die?
Which prize did Bell receive in 1933? | |
    What about 1945? -> Which prize did Bell receive in 1945?
In which year was Werner Heisenberg born? | 1901 | Werner Heisenberg
    What did Einstein say when he heard of the paper? -> =
    How did Pierre Curie lose his life? -> =
    Which scientific society elected Chien-Shiung Wu as its first female president? -> =
In which year was Werner Heisenberg born? | 1901 | Werner Heisenberg
What is spin? | | Spin
    Who discovered it? -> Who discovered spin?
When did Marie Curie die? | 4 July 1934 | Marie Curie
What did Niels Bohr publish in 1913? | the Bohr model | Bohr model
    Did she meet him? -> Did Marie Curie meet Niels Bohr?
"""
FACTS = """subject,relation,object
Martha Reyes,works for,Northwind Labs
Martha Reyes,born in,Valencia
Martha Reyes,reports to,Igor Petrov
Igor Petrov,works for,Northwind Labs
Igor Petrov,born in,Perm
Northwind Labs,headquartered in,Rotterdam
Northwind Labs,founded in,1998
Project Kestrel,led by,Martha Reyes
Project Heron,led by,Igor Petrov
Project Kestrel,started in,2019
"""
OVER_FACTS = """
Who leads Project Kestrel? | Martha Reyes |
    Where was she born? -> Where was Martha Reyes born?
    When did it start? -> When did Project Kestrel start?
    And Project Heron? -> Who leads Project Heron?
Where was Martha Reyes born? | Valencia |
    Who does she report to? -> Who does Martha Reyes report to?
    What about Igor Petrov? -> Where was Igor Petrov born?
Who does Martha Reyes work for? | Northwind Labs |
    Where is it headquartered? -> Where is Northwind Labs headquartered?
    Who else works there? -> Who else works at Northwind Labs?
When was Northwind Labs founded? | 1998 |
    and where? -> Where was Northwind Labs founded?
    Who is its director? -> Who is Northwind Labs's director?
What is the weather like? | |
    Who does he work for? -> !he
"""


def dialogs(table: str) -> list[Dialog]:
    """Read a table: turns (their question, answer and title), and below them, each a dialog, what may be typed next."""
    found: list[Dialog] = []
    turns: tuple[Turn, ...] = ()
    is_next = False
    for line in table.strip().split("\n"):
        if line.startswith(" "):
            typed, _, expected = line.strip().partition(" -> ")
            found.append((turns, typed, expected))
        else:
            question, answer, title = (part.strip() for part in line.split("|"))
            turns = (*(() if is_next else turns), Turn(question, answer, (title,) if title else ()))
        is_next = line.startswith(" ")
    return found


@pytest.fixture(scope="module")
def facts(pack_of: Callable[..., Path]) -> Path:
    """A pack without text, so that no article tells the pronouns of its subject."""
    return pack_of("facts", {"facts.csv": FACTS})


def misunderstood(table: str, pack: Corpus) -> list[tuple[str, str, str]]:
    """The questions that are understood in another way than a person does."""
    found = []
    for turns, question, expected in dialogs(table):
        try:
            understood = understand(question, turns, pack)
        except UsageError as error:
            understood = REFUSED + error.message.partition(": ")[2].strip("'.")
        if understood != (question if expected == SAME else expected):
            found.append((question, expected, understood))
    return found


def test_follow_ups_over_articles_are_understood_as_by_a_person(physics_pack: Path) -> None:
    with open_packs([str(physics_pack)], purpose="queries").pack as pack:
        assert misunderstood(PHYSICS, pack) == []
        # Without a question before it, nothing is changed or refused.
        assert [question for _, question, _ in dialogs(PHYSICS) if understand(question, (), pack) != question] == []


def test_follow_ups_over_facts_are_understood_as_by_a_person(facts: Path) -> None:
    with open_packs([str(facts)], purpose="queries").pack as pack:
        assert misunderstood(OVER_FACTS, pack) == []


def test_earlier_questions_are_answered_again_if_their_answers_are_needed(physics_pack: Path) -> None:
    with open_packs([str(physics_pack)], purpose="queries").pack as pack:
        pipeline = Pipeline(load_profile("enhanced"), pack, offline=True)
        turns = replay(["Who was he?", "In which year was Werner Heisenberg born?", "and where?"], pipeline)
        assert [turn.question for turn in turns][-1] == "Where was Werner Heisenberg born?"
        assert turns[-1].answer == "Würzburg"
        assert understand("Who else was born there?", turns, pack) == "Who else was born in Würzburg?"


def test_the_text_of_an_article_tells_its_pronouns() -> None:
    for title, lead, text, expected in (
        ("Ada Byron", "Ada Byron was a writer. She lived in London.", "Her father left it. She wrote.", {"she"}),
        ("Matrix mechanics", "It was found in 1925.", "He wrote it. His friend and he met. He left. He died.",
         {"it", "they"}),
        ("The Twins", "They are stars.", "They shine. They are far away.", {"they"}),
        ("Beta", "Beta is a letter.", "Beta is a letter.", {"he", "she", "it", "they"}),
        ("Brass", "Brass is an alloy.", f"{lead_of_words(30)}", {"it"}),
    ):  # fmt: skip
        assert pronouns_for(title, lead, f"{lead} {text}") == expected, title


def lead_of_words(count: int) -> str:
    return " ".join(["metal"] * count)


def test_a_pasted_page_is_not_a_follow_up() -> None:
    turns = (Turn("Where was Ada born?", "London"),)
    names = [Mention(10, 13, "Ada", frozenset(("she",)))]
    assert resolve("Who knew her?", turns, lambda text: names if "Ada" in text else []).question == "Who knew Ada?"
    page = "Who knew her? " * MAX_CHARS
    assert resolve(page, turns, lambda text: []).question == page


@settings(max_examples=40)
@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=20))
def test_any_text_is_understood_or_refused(question: str, before: str, answer: str) -> None:
    found = resolve(question, (Turn(before, answer),), lambda text: [])
    assert found.missing or found.question or not question
    if not may_refer_back(question):
        assert found.question == question and not found.missing


def named(*names: str) -> FindNames:
    """Find ``names`` in texts, of which nothing is known."""
    return lambda text: [
        Mention(text.index(name), text.index(name) + len(name), name) for name in names if name in text
    ]


TOOLS = Turn(
    "Which saws are there?",
    "",
    ("Workshop",),
    "- band saw\n- jigsaw\n- plunge saw",
    ("band saw", "jigsaw", "plunge saw"),
)
VET = Turn("Which vet does the cat see?", "", ("Cat",), "The cat sees Dr Mira Holt, 555-0102, since May.")
ALARM = Turn("What does alarm F-207 mean?", "door open", ("Kiln",))


@pytest.mark.parametrize(
    ("turn", "typed", "meant"),
    [
        (TOOLS, "How wide does the second one cut?", "How wide does jigsaw cut?"),
        (TOOLS, "Who lent us the last of them?", "Who lent us plunge saw?"),
        (TOOLS, "And who repairs the 1st?", "Who repairs band saw?"),
        (TOOLS, "How wide is the 4th one?", None),
        (ALARM, "Which was the first one?", "Which was the first one?"),
        (VET, "What is her address?", "What is Dr Mira Holt's address?"),
        (VET, "When is she away?", "When is Dr Mira Holt away?"),
        (ALARM, "and F-208?", "What does alarm F-208 mean?"),
        (Turn("Where does P-17 stand?", "", ("Pumps",)), "How heavy is it?", "How heavy is P-17?"),
        (Turn("What is CVE-2021-44228?", "", ("Bugs",)), "How severe is it?", None),
        (Turn("When does the pool open on Sundays?", "9:00"), "Who runs it?", "Who runs the pool?"),
        (Turn("What does a child's pass cost?", "4 €"), "and an adult's pass?", "What does an adult's pass cost?"),
        (ALARM, "What about 12?", None),
        (Turn("Who has ticket 70415?", "Ann"), "and 70422?", "Who has ticket 70422?"),
        (Turn("What does the ferry to Korsholm cost?", "12"), "What about Lindby?",
         "What does the ferry to Lindby cost?"),
        (Turn("Who is Jonas's deputy?", "Ann"), "What about Petra?", "Who is Petra's deputy?"),
        (Turn("How much did the Comet cost?", "9800"), "and the Heron?", "How much did the Heron cost?"),
        (Turn("How much did Comet cost?", "9800"), "and the Heron?", "How much did the Heron cost?"),
        (Turn("Who is the cook?", "cook (until May)", ("Ole Dahl",)), "When did he start?", "When did Ole Dahl start?"),
    ],
)  # fmt: skip
def test_what_an_answer_lists_and_names_may_be_meant(turn: Turn, typed: str, meant: str | None) -> None:
    found = resolve(typed, [turn], named())
    assert (None if found.missing else found.question) == meant
