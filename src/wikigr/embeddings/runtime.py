"""ONNX Runtime, which is told to report nothing to anybody; import it from here only.

From 1.31 on it keeps an id of the machine in the user's cache, and sends events to its maker, unless this variable is
set before its first import in the process: ``disable_telemetry_events()`` comes too late for that.
"""

from __future__ import annotations

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as state

__all__ = ["onnxruntime", "state"]
