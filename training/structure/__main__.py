"""Write training examples made from the structure of documentation, tables, facts and FAQs.

python -m training.structure --output FILE [--sample N]
"""

from __future__ import annotations

import argparse
import os
import random
from collections import Counter
from pathlib import Path

from training.examples import Example, write_examples
from training.structure import make_examples


def main() -> None:
    """Write the examples and print counts and a sample."""
    parser = argparse.ArgumentParser(prog="python -m training.structure", description=__doc__.partition("\n")[0])
    shared = Path(__file__).parents[2].parent / "shared" / "data"
    data = Path(os.environ.get("WIKIGR_TRAINING_DATA", shared))
    parser.add_argument("--data", type=Path, default=data, help="the folder of the data sets (WIKIGR_TRAINING_DATA)")
    parser.add_argument("--output", type=Path, required=True, help="the JSON Lines file to write")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="print N examples of each source")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    examples = make_examples(options.data, options.seed)
    write_examples(options.output, examples)
    for name, count in sorted(Counter(f"{example.source} {example.kind}" for example in examples).items()):
        print(f"{count:6} {name}")
    for name, count in sorted(Counter(example.id.partition(":")[0] for example in examples).items()):
        print(f"{count:6} from {name}")
    print(f"{len(examples):6} in all")
    for source in sorted({example.source for example in examples}):
        chosen = [example for example in examples if example.source == source]
        for example in random.Random(options.seed).sample(chosen, min(options.sample, len(chosen))):
            print(_line(example))


def _line(example: Example) -> str:
    text = example.text
    if example.spans:
        start, end = example.spans[0]
        text = f"{text[max(0, start - 120) : start]}[[{text[start:end]}]]{text[end : end + 80]}"
    heading = " · ".join(filter(None, (example.title, example.heading)))
    return f"\n{example.source} {example.kind}: {example.question}\n    {heading}: {text[:400]!r}"


if __name__ == "__main__":
    main()
