"""Mutants of a transfer: who says what, who may bring how much, and who may fetch what."""

from typing import Final

TESTS: Final = {
    "talk/exchange": ["talk/test_exchange"],
    "talk/flight": ["talk/test_flight"],
    "parcels/room": ["parcels/test_room"],
    "parcels/welcome": ["parcels/test_room"],
    "parcels/keeping": ["parcels/test_keeping"],
    "talk/patience": ["talk/test_patience"],
}
MUTANTS: Final[dict[str, list[tuple[str, str, str]]]] = {
    "talk/exchange": [
        (
            "an old machine is fetched from",
            "(self.version or 0) < _SINCE.get(type(message), 0):",
            "False:",
        ),
        (
            "whoever listens may fetch",
            "kind is Ask and speaker is turn is self.role.other\n",
            "kind is Ask\n",
        ),
        (
            "whoever is fetched from takes",
            "self.role, self._table = self.role.other, FETCHED",
            "self._table = FETCHED",
        ),
        ("more than offered is taken", "if len(data) > self._left:", "if False:"),
        ("more is got than was sent", "self._got < offset <= sent:", "self._got < offset:"),
        ("the same is got for ever", "self._got < offset <= sent:", "offset <= sent:"),
        ("what is got does not count", "self._got = message.offset", "pass"),
        (
            "the last bytes are not waited for",
            " or (kind is Receipt and self.role is",
            " or (False is",
        ),
        ("an old machine is waited for", "if (self.version or 0) < messages.TELLING:", "if False:"),
        ("any offset will do", "case Accept(offset) if offset > self.size:", "case None:"),
    ],
    "talk/flight": [
        ("twice as much in flight", "SHARE: Final = 20", "SHARE: Final = 10"),
        ("another handshake costs nothing", " // SHARE - ROUND)", " // SHARE)"),
        ("the smallest come one by one", "max(LEAST, size", "max(1, size"),
        ("a parcel in one packet", "stride(size), got", "size, got"),
        ("nobody is waited for", "got + in_flight(size) - sent)", "in_flight(size))"),
        ("a word for each byte", "here - told >= stride(size)", "here > told"),
        ("a word where the receipt is due", "here < size and", ""),
        ("words too late", "here - told >= stride(size)", "here - told > in_flight(size)"),
    ],
    "parcels/room": [
        ("any size", "if size > limits.parcel:", "if False:"),
        ("any number", "stock.count >= limits.count or", ""),
        ("any number of bytes", "or stock.total + size > total:", ":"),
        ("one may send all", "stock.count_of_one >= max(1, limits.count // 2) or", ""),
        ("one may fill all", "or stock.total_of_one + size > total // 2:", ":"),
        ("none may send one", "max(1, limits.count // 2)", "limits.count // 2"),
        ("a full disk takes more", "if stock.free < COPIES * size - here:", "if False:"),
        ("what is here comes again", "COPIES * size - here:", "COPIES * size:"),
    ],
    "parcels/welcome": [
        ("everybody is mine", "if welcome is not Welcome.MINE or", "if True or"),
        ("a revocation counts in one clone", "if gone is not None:", "if False:"),
        ("nobody is mine", " or sender.card.person.casefold() == person.casefold()", ""),
    ],
    "parcels/keeping": [
        ("kept for ever", "age > LONGEST or not named", "not named"),
        ("what was cut is kept for ever", "return age > UNDER_WAY", "return False"),
        ("what was caught is kept", "(lease.state is State.HELD and not ours)", "False"),
        ("what may be caught again goes", "is State.HELD and not ours)", "is State.HELD)"),
        ("what is closed is kept", "lease.state is State.CLOSED or", ""),
        ("anybody has an offer", "and lease.to.admits(to, person)", ""),
        ("what was taken back is given", " or lease.carrier != giver", " or True"),
        ("all that may catch get it", "and given and given != to:", "and False:"),
        (
            "who caught it gets it no more",
            "if lease.state in (State.OFFERED, State.DROPPED) and",
            "if",
        ),
        ("a drop is for nobody", "return lease.state is State.DROPPED", "return False"),
    ],
    "talk/patience": [
        ("a no is tried again", "if met and not cut:", "if False:"),
        ("a cut is an answer", "if met and not cut:", "if met:"),
        ("who never answered is tried again", "return met_ever or asked", "return True"),
        ("what was asked for is not done", "return met_ever or asked", "return met_ever"),
        ("no end", "if left <= 0:", "if False:"),
        ("past the end", ", _LONGEST, left)", ", _LONGEST)"),
        ("no limit to a pause", ", _LONGEST, left)", ", left)"),
        ("a byte is progress", "position - before >= LEAST", "position > before"),
        ("the last byte is none", "or position == size or", "or"),
    ],
}
