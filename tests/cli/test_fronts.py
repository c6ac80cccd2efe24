"""`iacta fronts`: how armies are divided among fronts."""

import json
from pathlib import Path

from tests.cli.run import Run


def test_a_front_has_rules_from_a_file(run: Run, tmp_path: Path) -> None:
    house = tmp_path / "house.toml"
    house.write_text("[defence]\nfaces = [6, 6, 6]\n")
    line = "fronts 9:1:{} 5 --armies 10 --json"
    record = json.loads(run(line.format(house)).stdout)
    assert record["fronts"][0].pop("rules") == "capital"
    expected = json.loads(run(line.format("capital")).stdout)
    assert record["fronts"][0].pop("value") == expected["fronts"][0]["value"]
    refused = run(line.format("none.toml"))
    assert refused == (2, "", "iacta: cannot read 'none.toml': no such file\n")
