"""Mutants of pairing: the code, the proofs, the turns, and who lets whom in."""

from typing import Final

TESTS: Final = {
    "machines/codes": ["machines/test_codes"],
    "machines/pairing": ["machines/test_pairing"],
    "machines/pairtalk": ["machines/test_pairing"],
    "fields": ["machines/test_pairing", "talk/test_messages"],
    "talk/refusals": ["talk/test_exchange", "machines/test_pairing"],
    "machines/joining": ["machines/test_pairing"],
}
MUTANTS: Final[dict[str, list[tuple[str, str, str]]]] = {
    "machines/codes": [
        ("a word that is none passes", "if word not in _BYTES:", "if False:"),
        ("number 0", "0 < number <= LAST_NUMBER", "0 <= number <= LAST_NUMBER"),
        ("number 100", "<= LAST_NUMBER:\n", "<= LAST_NUMBER + 1:\n"),
        ("one word will do", "len(parts) != 1 + WORD_COUNT", "len(parts) < WORD_COUNT"),
        ("upper case is another code", ".strip().lower()", ".strip()"),
    ],
    "machines/pairing": [
        ("no proof is asked for", "if not hmac.compare_digest", "if False and hmac.compare_digest"),
        (
            "both sides prove alike",
            "self._proof(self.side.other, box)",
            "self._proof(self.side, box)",
        ),
        ("a proof is over the box alone", 'self._transcript + box, "sha256"', 'box, "sha256"'),
        ("what is over the limit is read", "if len(body) > LIMIT:", "if False:"),
        ("anybody may say it", "return who is side and fits", "return fits"),
        ("anything may be said", "return who is side and fits", "return who is side"),
        ("no in the clear", "and self._turn >= _SEALED)", "and True)"),
        (
            "sides are not in the transcript",
            "self._transcript + name + digest",
            "self._transcript + digest",
        ),
        ("hellos are not in the keys", "salt=salt, info=info", "salt=_START, info=info"),
        ("one key for all", "info=info", "info=b''"),
        ("words without the claims", "salt=self._claimed", "salt=_START"),
        (
            "no ends nothing",
            "len(EXPECTED) if isinstance(message, No) else",
            "self._turn if isinstance(message, No) else",
        ),
        ("nothing comes after the last", "if self._turn == len(EXPECTED):", "if False:"),
        ("no to what was not judged", "return not unjudged and", "return"),
    ],
    "machines/pairtalk": [
        ("any version will do", "if value != VERSION:", "if False:"),
        ("true is version 1", "if type(value) is not int:", "if not isinstance(value, int):"),
        ("another spelling of a key", "or pake.hex() != value", ""),
        ("a key of any length", "len(pake) != _PAKE_BYTES or", ""),
        (
            "fields may be added",
            'if said.keys() != {"kind", *checks}:',
            'if not said.keys() >= {"kind", *checks}:',
        ),
        (
            "an id that is none",
            "_founding: Final = shape(is_oid)",
            "_founding: Final = shape(bool)",
        ),
    ],
    "fields": [
        (
            "texts without end",
            "isinstance(value, str) or len(value) > limit",
            "isinstance(value, str)",
        ),
        (
            "lists without end",
            "isinstance(value, list) or len(value) > limit",
            "isinstance(value, list)",
        ),
        ("true is a number", "type(value) is not int or", "not isinstance(value, int) or"),
    ],
    "talk/refusals": [
        ("any no is a refusal", "_BY_CODE.get(code, RefusedError)", "RefusedError"),
        ("what came is shown as it is", "said = plain(message) or", "said = message or"),
        ("hints come as they are", "hint=plain(hint) or None", "hint=hint or None"),
    ],
    "machines/joining": [
        ("who was revoked is a member", "or roster.member(card.id) is not None:", "or True:"),
        ("a machine pairs with itself", "if types.card.id == shows.card.id:", "if False:"),
        ("any repository will do", "if types.roots and shows.roots and not", "if False and not"),
        (
            "a shallow clone is another repository",
            "if types.roots and shows.roots and not",
            "if not",
        ),
        ("two rosters are one", "if types.trusts != shows.trusts:", "if False:"),
        ("whoever types lets in", "Side.SHOWS if shows.admits else Side.TYPES", "Side.TYPES"),
        (
            "a member that trusts nothing lets in",
            "return self.member and bool(self.trusts)",
            "return self.member",
        ),
        (
            "whoever trusts lets in",
            "return self.member and bool(self.trusts)",
            "return bool(self.trusts)",
        ),
        ("a second roster is founded", "if not types.admits and not shows.admits:", "if False:"),
        (
            "the guest's own roster is no matter",
            "for other in (guest.trusts, guest.sees)",
            "for other in (guest.sees,)",
        ),
        (
            "the guest's remote is no matter",
            "for other in (guest.trusts, guest.sees)",
            "for other in (guest.trusts,)",
        ),
        (
            "a remote without the roster will do",
            "if host.sees and not guest.sees and not guest.away:",
            "if False:",
        ),
        ("a remote that is away has no roster", "and not guest.away:", ":"),
        (
            "two machines of one name",
            "if not guest.member and guest.card.name",
            "if False and guest.card.name",
        ),
        (
            "upper case makes another name",
            "guest.card.name.casefold() == host.card.name.casefold()",
            "guest.card.name == host.card.name",
        ),
        (
            "a member needs a new name",
            "if not guest.member and guest.card.name",
            "if guest.card.name",
        ),
        ("whoever shows founds", "side is Side.TYPES and not own.trusts", "not own.trusts"),
        (
            "what is trusted already is no matter",
            'if guest.trusts not in ("", founding):',
            "if False:",
        ),
        ("what the remote shows is no matter", "if seen is None or", "if True or"),
        ("what waits fits any roster", "(waits and not seen)", "waits"),
        ("what is there already waits", "(waits and not seen)", "not seen"),
    ],
}
