"""The names of the inputs and outputs that only the reader's graph has; apart, so that reading does not load onnx."""

TOKEN_TYPES = "token_type_ids"
LOGITS = "logits"
