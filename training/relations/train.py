"""Train the model that matches a word of a question with a relation of a graph, forward or inverse.

    python -m training.relations.train [OUT.npz] [--epochs 60] [--seed 0]

``lexicon.tsv`` has one relation per line: names that graphs give it, then words that ask for the end of its edges, then
words that ask for their beginning. Every training example draws a random schema of such relations, some with opaque
names, and one word; the target is the step that the word means, or none of them. The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikigr.embeddings.loader import DEFAULT_MODEL, open_encoder

Floats = NDArray[np.float32]

RANK = 32
# Words that mean no relation: kinds of things, and verbs that say little.
_NEUTRAL = (
    "film films movie movies company companies firm firms person people man woman thing things one book books city "
    "place object item kind name give called used use spoken fall under come have has belong entity value number also"
).split()
_SCHEMA_SIZES = (4, 20)
_NO_RELATION = 0.15
_OF = 0.2
_BATCH = 256
_RATE = 4e-3
_DECAY = 5e-5


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation: its possible names, and the words that lead forward and back along it."""

    names: tuple[str, ...]
    forward: tuple[str, ...]
    inverse: tuple[str, ...]


def read_lexicon(path: Path) -> list[Relation]:
    """Read ``lexicon.tsv``."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return [Relation(*(tuple(cell.split(";")) for cell in row)) for row in rows]


def examples(relations: list[Relation], count: int, draw: random.Random) -> list[tuple[str, list[str], list[int]]]:
    """Return words, the names of the relations of a schema, and the steps that the word means.

    Step ``2 n`` is relation ``n`` forward and ``2 n + 1`` inverse; an empty list means none of them.
    """
    made = []
    for _ in range(count):
        schema = draw.sample(relations, draw.randint(*_SCHEMA_SIZES))
        names = [draw.choice(relation.names) for relation in schema]
        if draw.random() < _NO_RELATION:
            others = [relation for relation in relations if relation not in schema]
            word = draw.choice(_NEUTRAL) if draw.random() < 0.6 else draw.choice(draw.choice(others).forward)
        else:
            relation = schema[draw.randrange(len(schema))]
            word = draw.choice(relation.forward if draw.random() < 0.6 else relation.inverse)
        meant = [
            2 * n + inverse
            for n, relation in enumerate(schema)
            for inverse, words in enumerate((relation.forward, relation.inverse))
            if word in words
        ]
        made.append((_with_preposition(word, draw), names, meant))
    return made


def _with_preposition(word: str, draw: random.Random) -> str:
    """Return the word, sometimes with a preposition that says nothing: questions are matched with both."""
    return f"{word} of" if " " not in word and draw.random() < _OF else word


def train(relations: list[Relation], epochs: int, seed: int) -> dict[str, Floats]:
    """Return ``words``, ``forward`` and ``inverse`` of shape ``(d, RANK)``, and ``scale`` of shape ``(2,)``."""
    encoder = open_encoder(DEFAULT_MODEL, purpose="queries")
    words = {word for r in relations for word in (*r.forward, *r.inverse)} | set(_NEUTRAL)
    texts = sorted({t for r in relations for t in r.names} | words | {f"{w} of" for w in words if " " not in w})
    vectors = dict(zip(texts, encoder.encode(texts), strict=True))
    generator = np.random.default_rng(seed)
    width = encoder.identity.dimension
    weights = {
        name: (generator.standard_normal((width, RANK)) * 0.05).astype(np.float32)
        for name in ("words", "forward", "inverse")
    }
    weights["scale"] = np.array([10.0, -4.0], dtype=np.float32)
    first = {name: np.zeros_like(value) for name, value in weights.items()}
    second = {name: np.zeros_like(value) for name, value in weights.items()}
    draw = random.Random(seed)
    step = 0
    for epoch in range(epochs):
        losses = []
        for _ in range(24):
            step += 1
            gradient = {name: np.zeros_like(value) for name, value in weights.items()}
            for word, names, meant in examples(relations, _BATCH, draw):
                losses.append(_backward(vectors[word], np.stack([vectors[n] for n in names]), meant, weights, gradient))
            for name, value in weights.items():
                slope = gradient[name] / _BATCH + (_DECAY * value if name != "scale" else 0.0)
                first[name] = (0.9 * first[name] + 0.1 * slope).astype(np.float32)
                second[name] = (0.999 * second[name] + 0.001 * slope**2).astype(np.float32)
                update = first[name] / (1 - 0.9**step) / (np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)
                rate = _RATE * (10 if name == "scale" else 1) * (1 - epoch / epochs)
                weights[name] = (value - rate * update).astype(np.float32)
        sys.stderr.write(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}\n")
    return weights


def _backward(
    word: Floats, names: Floats, meant: list[int], weights: dict[str, Floats], gradient: dict[str, Floats]
) -> float:
    """Add the gradient of one example to ``gradient`` and return its loss."""
    low = word @ weights["words"]
    forward, inverse = names @ weights["forward"], names @ weights["inverse"]
    cosines = names @ word
    scale, bias = weights["scale"]
    logits = np.empty(2 * len(names) + 1)
    logits[0:-1:2] = scale * cosines + bias + forward @ low
    logits[1:-1:2] = scale * cosines + bias + inverse @ low
    logits[-1] = 0.0
    powers = np.exp(logits - logits.max())
    shares = powers / powers.sum()
    target = np.zeros(len(logits))
    target[meant or [-1]] = shares[meant or [-1]]
    right = target.sum()
    slope = (shares - target / right).astype(np.float32)
    ahead, back = slope[0:-1:2], slope[1:-1:2]
    gradient["forward"] += np.outer(names.T @ ahead, low)
    gradient["inverse"] += np.outer(names.T @ back, low)
    gradient["words"] += np.outer(word, forward.T @ ahead + inverse.T @ back)
    gradient["scale"] += np.array([float((ahead + back) @ cosines), float(slope[:-1].sum())], dtype=np.float32)
    return -float(np.log(right))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(__file__).parents[2] / "src" / "wikigr" / "retrieval" / "relation_paths" / "relation_match.npz"
    parser.add_argument("out", type=Path, nargs="?", default=default)
    parser.add_argument("--epochs", type=int, default=110)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    weights = train(read_lexicon(Path(__file__).with_name("lexicon.tsv")), given.epochs, given.seed)
    stored: dict[str, Any] = {name: value.astype(np.float16) for name, value in weights.items()}
    np.savez(given.out, **stored)
    sys.stderr.write(f"{given.out}: {given.out.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
