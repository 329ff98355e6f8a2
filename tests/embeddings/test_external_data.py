"""ONNX Runtime reads the data of a model only from the model's folder. Versions before 1.27 read other files too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

VALUES = np.arange(4, dtype=np.float32)


def external(location: str, offset: int = 0) -> Any:
    """Return a tensor of four floats whose values are in another file."""
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", offset), ("length", VALUES.nbytes)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def run(folder: Path, tensor: Any) -> Any:
    """Return what a model that adds ``tensor`` to zeros computes; the model is in ``folder``."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", ends[:1], ends[1:])
    graph.initializer.append(tensor)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": np.zeros(4, np.float32)})[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a model, with a file beside it and links to that file in it."""
    (tmp_path / "outside.bin").write_bytes(VALUES.tobytes())
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "inside.bin").write_bytes(VALUES.tobytes())
    (folder / "link.bin").symlink_to(tmp_path / "outside.bin")
    (folder / "up").symlink_to(tmp_path)
    return folder


def test_data_in_the_folder_is_read(folder: Path) -> None:
    assert run(folder, external("inside.bin")).tolist() == VALUES.tolist()


@pytest.mark.parametrize("location", ["../outside.bin", "ABSOLUTE", "link.bin", "up/outside.bin"])
def test_data_outside_of_the_folder_is_refused(folder: Path, location: str) -> None:
    location = str(folder.parent / "outside.bin") if location == "ABSOLUTE" else location
    with pytest.raises(Exception, match=r"(?i)external|escape|absolute"):
        run(folder, external(location))


def test_an_address_in_memory_is_refused(folder: Path) -> None:
    with pytest.raises(Exception, match=r"(?i)external|memory|address"):
        run(folder, external("*/_ORT_MEM_ADDR_/*", VALUES.ctypes.data))
