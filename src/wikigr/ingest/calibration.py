"""Calibrate a pack's ``min_relevance``: the cosine that off-topic questions rarely exceed.

Encoders differ in scale: the cosine of unrelated texts is near 0 with some and near 0.7 with others. The threshold is
therefore measured with the pack's own encoder and vectors.
"""

from __future__ import annotations

import numpy as np

from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.staging import Staging

# Everyday questions on two dozen subjects. Whatever a pack is about, most of them are off-topic.
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


def calibrate_min_relevance(staging: Staging, encoder: Embedder) -> float:
    """Return the cosine, in [0, 1], that 95% of the sections stay below for an off-topic question.

    The median over the questions keeps the threshold valid for a pack about one of their subjects.
    """
    # The first ones by the hash of their text, so that builds of the same input agree.
    rows = [value for (value,) in staging.rows("SELECT value FROM vector ORDER BY hash LIMIT 2000")]
    if not rows:
        return 0.0
    sections = np.stack([np.frombuffer(value, dtype=np.float32) for value in rows])
    cosines = sections @ encoder.encode(_UNRELATED).T
    threshold = float(np.median(np.quantile(cosines, 0.95, axis=0)))
    # The same model gives different third decimals on different CPUs.
    return round(min(1.0, max(0.0, threshold)), 2)
