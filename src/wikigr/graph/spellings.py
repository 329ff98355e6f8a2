"""The spellings of all names as arrays, which tell most names apart from a misspelled one without reading them.

A typo adds, removes or replaces a letter, or swaps two. Each changes the number of letters by at most one, and at most
two bits of the set of letters. Names that differ in more cannot be so few typos away.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wikigr.names import bare_name, name_key

_MAX_LENGTH = int(np.iinfo(np.uint16).max)


@dataclass(frozen=True, eq=False)
class Spellings:
    """Every name as a key (``names.name_key``), with and without its qualifier, in ascending order of node numbers.

    ``nodes`` are the numbers of their nodes, ``lengths`` their numbers of characters (65,535 for longer ones), and
    ``letters`` the sets of their characters, a bit for each. ``last_words`` are the CRC-32 of their last words, or 0
    for a name of one word.
    """

    nodes: NDArray[np.int32]
    lengths: NDArray[np.uint16]
    letters: NDArray[np.uint64]
    last_words: NDArray[np.uint32]

    def within(self, key: str, typos: int) -> list[int]:
        """Return the nodes whose names may be at most ``typos`` typos away from ``key``, and few others."""
        length = min(len(key), _MAX_LENGTH)
        near = np.flatnonzero((self.lengths >= max(0, length - typos)) & (self.lengths <= length + typos))
        differing = np.bitwise_count(self.letters[near] ^ np.uint64(_letters(key)))
        return list(dict.fromkeys(self.nodes[near[differing <= 2 * typos]].tolist()))

    def ending_with(self, word: str) -> list[int]:
        """Return the nodes with a name of several words whose last one is ``word``, and hardly any others."""
        return list(dict.fromkeys(self.nodes[self.last_words == np.uint32(_last_word(word))].tolist()))


def spell(names: Iterable[str]) -> Spellings:
    """Return the spellings of ``names``, the name of every node by number."""
    nodes, lengths, letters, last_words = array("i"), array("H"), array("Q"), array("I")
    for number, name in enumerate(names):
        for key in keys_of(name):
            *first, last = key.split() or [""]
            nodes.append(number)
            lengths.append(min(len(key), _MAX_LENGTH))
            letters.append(_letters(key))
            last_words.append(_last_word(last) if first else 0)
    return Spellings(
        np.array(nodes, dtype=np.int32),
        np.array(lengths, dtype=np.uint16),
        np.array(letters, dtype=np.uint64),
        np.array(last_words, dtype=np.uint32),
    )


def keys_of(name: str) -> list[str]:
    """Return ``name`` as a key, with and without its qualifier."""
    return list(dict.fromkeys((name_key(name), name_key(bare_name(name)))))


def _letters(key: str) -> int:
    bits = 0
    for character in key:
        bits |= 1 << (ord(character) & 63)
    return bits


def _last_word(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "replace"))
