"""A llama.cpp server on loopback with a small base model; run as a program, it prints its address and serves.

python tests/llm/llama_server.py MODEL.gguf
"""

from __future__ import annotations

import sys
import time


def serve(model: str) -> None:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx = 8192
    parameters.n_parallel = 1
    parameters.port = 0
    parameters.hostnames = ["127.0.0.1"]
    parameters.warmup = False
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    while True:
        time.sleep(1)


if __name__ == "__main__":
    serve(sys.argv[1])
