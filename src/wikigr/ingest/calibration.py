"""The least relevance of a pack: what a question about something else reaches with its sections.

Encoders differ in what they call similar: unrelated texts have cosines near 0 with one and near 0.7 with another. So
the threshold is measured with the pack's own encoder on the pack's own vectors.
"""

from __future__ import annotations

import numpy as np

from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.staging import Staging

# Everyday questions on two dozen subjects: whatever a pack is about, most of them are not about it.
_UNRELATED = """How long should rice simmer?
Who won the football cup last year?
What is the best way to remove a coffee stain?
How do I renew a passport?
Which key is this song written in?
When does the supermarket close on Sunday?
How is a sourdough starter fed?
What size of shoe fits a child of six?
Who directed that comedy about the wedding?
How much does a train ticket to the coast cost?
What should a dog not eat?
Why does my printer jam?
How often should tomatoes be watered?
Which paint suits a damp wall?
What is the rule for offside?
How do you tie a bow tie?
Where can I park near the theatre?
What is the recipe for lemon cake?
How is a bicycle chain cleaned?
When is rent due?
Which exercise helps a stiff neck?
How do I change the language of my phone?
What does a plumber charge an hour?
How are curtains measured?""".splitlines()

# Sections compared, the first by the hash of their text: the same in every build of the same input.
_SAMPLE = 2_000
# An unrelated question stays below the threshold with this share of the sections.
_SHARE = 0.95
# Encoders of one model differ in the third decimal between CPUs.
_DECIMALS = 2


def least_relevance(staging: Staging, encoder: Embedder) -> float:
    """Return the cosine, in [0, 1], that 95 % of the sections do not reach for an unrelated question.

    It is the median over the questions, so that a pack about one of their subjects is not misjudged.
    """
    rows = [value for (value,) in staging.rows("SELECT value FROM vector ORDER BY hash LIMIT ?", (_SAMPLE,))]
    if not rows:
        return 0.0
    sections = np.stack([np.frombuffer(value, dtype=np.float32) for value in rows])
    cosines = sections @ encoder.encode(_UNRELATED).T
    threshold = float(np.median(np.quantile(cosines, _SHARE, axis=0)))
    return round(min(1.0, max(0.0, threshold)), _DECIMALS)
