"""The build: it has what it imports."""

import re
import subprocess
import sys
import tomllib
from importlib import metadata

from tests.kit.machines import ROOT


def test_what_a_build_imports_is_named_for_it() -> None:
    seen = "import sys; own = {*sys.modules}; from handsoff.cli.app import page; page()"
    seen += "; print(*{*sys.modules} - own)"
    ran = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    used = {name.partition(".")[0] for name in ran.stdout.split()} - sys.stdlib_module_names
    of = metadata.packages_distributions()
    imported = {name.lower() for module in used for name in of.get(module, ())} - {"handsoff"}
    waiting = list(tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"])
    named: set[str] = set()
    while waiting:
        found = re.match(r"[\w.-]+", waiting.pop())
        name = found[0].lower() if found else ""
        if name not in named and any(name == d.lower() for there in of.values() for d in there):
            named.add(name)
            waiting += [more for more in metadata.requires(name) or () if "extra ==" not in more]
    assert imported <= named
