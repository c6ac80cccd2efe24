"""Python and a C compiler read the same interface from the header."""

import ctypes
import os
import subprocess
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from iacta.game.state import Phase
from iacta.native.core_library import CoreData, find_library
from iacta.native.header import read_header
from iacta.war.players import AIMS, CHOSEN_BY_AI, Player
from iacta.war.value import FEATURES_OF_PLAYERS, HIDDEN

HEADER = Path(__file__).parents[2] / "src" / "core" / "iacta.h"


@pytest.mark.slow
def test_sizes_and_offsets_are_those_of_a_c_compiler(tmp_path: Path) -> None:
    header = read_header(HEADER.read_text(encoding="utf-8"))
    lines, expected = [], []
    for name, structure in header.structures.items():
        lines.append(f'printf("%zu\\n", sizeof(iacta_{name}));')
        expected.append(ctypes.sizeof(structure))
        for field in (entry[0] for entry in structure._fields_):
            lines.append(f'printf("%zu\\n", offsetof(iacta_{name}, {field}));')
            expected.append(getattr(structure, field).offset)
    for name, value in header.constants.items():
        lines.append(f'printf("%d\\n", (int)IACTA_{name});')
        expected.append(value)
    source, program = tmp_path / "sizes.cpp", tmp_path / "sizes"
    source.write_text(
        '#include <stddef.h>\n#include <stdio.h>\n#include "iacta.h"\n'
        f"int main() {{ {' '.join(lines)} }}\n"
    )
    command = [os.environ.get("CXX", "c++"), f"-I{HEADER.parent}", str(source), "-o", str(program)]
    subprocess.run(command, check=True)  # noqa: S603 # the compiler of the core
    printed = subprocess.check_output([program], text=True)  # noqa: S603 # our own program
    assert [*map(int, printed.split())] == expected
    assert len(header.structures) >= 10


@pytest.mark.parametrize(
    ("prefix", "names"),
    [
        ("PHASE_", get_args(Phase)),
        ("AIM_", (*AIMS, CHOSEN_BY_AI)),
        ("FEATURE_", tuple(name.replace("'", "") for name in FEATURES_OF_PLAYERS)),
        ("WEIGHT_", tuple(each.name for each in fields(Player) if each.name != "value")),
    ],
    ids=["phases", "aims", "features", "weights"],
)
def test_python_has_each_name_of_the_core(prefix: str, names: tuple[str, ...]) -> None:
    constants = read_header(HEADER.read_text(encoding="utf-8")).constants
    declared = [name for name in constants if name.startswith(prefix)]
    assert sorted(declared) == sorted(prefix + name.upper().replace(" ", "_") for name in names)
    assert len({constants[name] for name in declared}) == len(declared)


def test_features_and_weights_are_numbered_without_gaps() -> None:
    constants = read_header(HEADER.read_text(encoding="utf-8")).constants
    for prefix, total in (("FEATURE_", "FEATURES"), ("WEIGHT_", "WEIGHTS")):
        numbers = [number for name, number in constants.items() if name.startswith(prefix)]
        assert sorted(numbers) == [*range(constants[total])]
    order = [name for name in constants if name.startswith("FEATURE_")]
    assert [name.replace("'", "") for name in FEATURES_OF_PLAYERS] == [
        name.removeprefix("FEATURE_").lower().replace("_", " ") for name in order
    ]
    assert constants["HIDDEN"] == HIDDEN
    assert constants["VALUE_WEIGHTS"] == HIDDEN * (constants["FEATURES"] + 2)


@pytest.mark.usefixtures("core")
def test_the_library_has_each_function_of_its_header() -> None:
    library = find_library()
    assert library is not None
    assert len(library.header.functions) >= 20
    for name in library.header.functions:
        assert getattr(library.functions, f"iacta_{name}")


@pytest.mark.usefixtures("core")
def test_sequences_become_arrays_of_the_type_that_the_header_says() -> None:
    library = find_library()
    assert library is not None
    it = CoreData(library, "problem", lands=2, armies=[3, 4], pays=[1, 2], owner=[True, False])
    assert [it.data.armies[k] for k in range(2)] == [3, 4]
    assert [it.data.pays[k] for k in range(2)] == [1.0, 2.0]
    assert [str(it.arrays[name].dtype) for name in ("armies", "pays", "owner")] == [
        "int32",
        "float64",
        "uint8",
    ]
