"""The names that every prepared graph uses, whoever wrote it.

Inputs ``input_ids`` and ``attention_mask``: int32 ``[batch, tokens]``, 1 for a token and 0 for padding on the
right. Output ``embedding``: float32 ``[batch, dimension]`` with rows of L2 norm 1.
"""

INPUT_IDS = "input_ids"
ATTENTION_MASK = "attention_mask"
EMBEDDING = "embedding"
