"""What hooks of agents are told, as far as no record is needed for it."""

import pytest

from handsoff.core.briefing import settings_of


@pytest.mark.parametrize(
    ("edits", "every", "told"),
    [
        ("warn", "5m", ("warn", 300)), ("OFF", "off", ("off", 0)), ("Warn", "NO", ("warn", 0)),
        ("", "", ("deny", 600)), ("maybe", "never", ("deny", 600)), ("deny", "0", ("deny", 0)),
    ],
)  # fmt: skip
def test_what_a_user_set_is_told_and_what_is_none_is_as_if_not_set(
    edits: str, every: str, told: tuple[str, int]
) -> None:
    assert settings_of(edits, every) == {"edits": told[0], "save_every": told[1]}
