"""The lab's environment with a browser in it: Playwright's client, and Debian's own chromium.

No browser is downloaded: Playwright is told where Debian's lies (apt-get install chromium).
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = Path("/usr/bin/chromium")
_VENV = ROOT / "lab" / ".venv"


def into_environment(script: str) -> None:
    """Go on with ``script`` in lab/.venv, which gets what only a look at pages needs."""
    if Path(sys.prefix) != _VENV:
        subprocess.run(["bash", ROOT / "lab" / "env.sh"], check=True, stdout=subprocess.DEVNULL)
        if not [*_VENV.glob("lib/*/site-packages/playwright")]:
            pip = [str(_VENV / "bin" / "pip"), "install", "-q", "--disable-pip-version-check"]
            subprocess.run([*pip, "playwright"], check=True)
        python = str(_VENV / "bin" / "python")
        os.execv(python, [python, script, *sys.argv[1:]])
    sys.path.insert(0, str(ROOT))
