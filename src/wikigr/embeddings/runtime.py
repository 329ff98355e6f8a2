"""ONNX Runtime without telemetry. Import it only from this module.

Since version 1.31, it stores an id of the machine in the user's cache and sends events to its vendor, unless this
variable is set before it is first imported; ``disable_telemetry_events()`` would be too late. This is a module and not
a function of ``onnx`` because it is imported on first use: importing ONNX Runtime is slow.
"""

from __future__ import annotations

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as state

__all__ = ["onnxruntime", "state"]
