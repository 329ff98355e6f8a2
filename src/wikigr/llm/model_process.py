"""The process that runs a model file with llama.cpp: the child's side of ``ModelFile``.

A model file may come from a stranger, and the parser of its format is written in C++. The process therefore reads it
behind the walls of the sandbox. The library cannot be used without its HTTP server, so that listens on a Unix socket in
a folder of its own, which the parent removes before the first request: nothing can connect to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import xllamacpp

from wikigr.sandbox.process import Channel


def serve(channel: Channel, *, model: str, threads: int, context: int, socket: str) -> None:
    """Load the model and answer requests of the chat-completions API until the parent closes the channel.

    Every reply is sent chunk by chunk, as ``{"chunk": …}`` or ``{"rejected": …}``, and followed by ``None``.
    """
    server = _load(model, threads, context, socket)
    channel.send({"loaded": server is not None})
    while server is not None:
        request = channel.receive()
        try:
            server.handle_chat_completions(json.dumps(request), lambda chunk: _pass_on(channel, chunk))
        except ValueError as error:
            channel.send({"chunk": {"error": {"code": 400, "message": str(error)}}})
        channel.send(None)


def _load(model: str, threads: int, context: int, socket: str) -> Any:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx = context
    # Tokens of the prompt that are read at a time: after each batch, the parent learns of the progress.
    parameters.n_batch = 256
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.cpuparams.poll = parameters.cpuparams_batch.poll = 0
    parameters.n_gpu_layers = 0
    parameters.hostnames = [socket]
    parameters.n_threads_http = 1
    parameters.ui = parameters.endpoint_slots = parameters.warmup = False
    parameters.offline = True
    # Only fatal errors are logged: the log would contain the question.
    parameters.verbosity = -1
    try:
        return xllamacpp.Server(parameters)
    except RuntimeError:
        # The library says nothing about the reason but in its log.
        return None


def _pass_on(channel: Channel, chunk: str | Mapping[str, Any]) -> bool:
    channel.send({"chunk": json.loads(chunk) if isinstance(chunk, str) else chunk})
    return False
