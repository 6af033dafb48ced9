"""Mutants of finding machines: what is kept of announcements, where they lead, who is here."""

from typing import Final

TESTS: Final = {
    "reach/address": ["reach/test_address", "reach/test_destination", "reach/test_interfaces"],
    "reach/interfaces": ["reach/test_interfaces"],
    "reach/discovery": ["reach/test_discovery"],
    "reach/nearby": ["reach/test_nearby"],
    "checkup/earshot": ["reach/test_nearby"],
}
MUTANTS: Final[dict[str, list[tuple[str, str, str]]]] = {
    "reach/address": [
        (
            "a host may start with a dash",
            '_HOST: Final = re.compile(r"[A-Za-z0-9_]',
            '_HOST: Final = re.compile(r"[A-Za-z0-9_-]',
        ),
        ("ports are any number", "0 < int(digits) <= LAST_PORT", "True"),
        ("no address is every address", "ip.is_unspecified", "False"),
        ("others reach loopback", "ip.is_loopback if", "False if"),
    ],
    "reach/interfaces": [
        ("loopback is a network", "if interface.loopback:", "if False:"),
        ("containers are near by", "if _CONTAINERS.match(interface.name):", "if False:"),
        ("a VPN is near by", "if _TUNNELS.match(interface.name):", "if False:"),
        ("interfaces that are down", "if not interface.up:", "if False:"),
        ("without multicast", "None if interface.multicast else", "None if True else"),
        ("IPv6 of a listener on IPv4", "bind != _EVERY_IPV4 or", "True or"),
        ("addresses that are not bound", 'str(ip) == bind.partition("%")[0]', "True"),
        ("what listens on loopback", "not parsed.is_loopback", "True"),
        ("any address of IPv6", "key=lambda ip: not ip.is_link_local", "key=lambda ip: 0"),
        (
            "two links of one address",
            "interface.index if address in chosen else address",
            "address",
        ),
        ("multicast is dialled", "or address.is_multicast", ""),
        ("loopback is dialled", "or address.is_loopback:", ":"),
        ("IPv4 in IPv6", "if address.ipv4_mapped is not None:", "if False:"),
        ("a link of which we do not know", "and not _is_scoped(address, ours)", "and False"),
        ("our own addresses", "if any(ip == address for ip, _, _ in every):", "if False:"),
        (
            "containers are dialled",
            "for _, network, good in every if good",
            "for _, network, _ in every",
        ),
        ("private networks of a VPN", "return not beside and", "return"),
        ("the rest of the world", "any(address in network for network in _PRIVATE)", "True"),
        ("other networks first", "not beside, isinstance", "beside, isinstance"),
        ("the link's own first", "return address.is_link_local, not", "return False, not"),
    ],
    "reach/discovery": [
        ("a host of any name", "and host_of(kind, found) == name else", "else"),
        ("a service on another host", "instance_of(self.kind, host) == instance and", "True and"),
        ("any port", "and 0 < port <= LAST_PORT:", ":"),
        ("others than the wanted", "or self.wanted not in (None, instance)", ""),
        ("strangers without end", "if not asked and len(kept) >= RESULTS:", "if False:"),
        ("known ones are strangers", "or instance in self.known", ""),
        ("addresses without end", "and len(heard) < most:", ":"),
        ("told again and again", "self._told[instance, port] = len(addresses)", "pass"),
        (
            "the child is believed: instance",
            "not is_instance(kind, instance) or not 0 <",
            "not 0 <",
        ),
        ("the child is believed: port", "or not 0 < port <= LAST_PORT:", ":"),
        ("the child is believed: number", 'said["addresses"][:ADDRESSES]', 'said["addresses"]'),
        ("the child is believed: place", "dialled(given, here)", "given"),
        (
            "others are machines",
            "frozenset(filter(is_machine_id, machines))",
            "frozenset(machines)",
        ),
        ("our own voice is another's", "not name.endswith(ours)", "True"),
    ],
    "reach/nearby": [
        ("announced is proved", "if answer is Answer.PROVED]", "]"),
        ("a claim is silence", "    if claimed:\n", "    if False:\n"),
        ("strangers who proved nothing", "or p.presence is Presence.HERE]", "or True]"),
        ("seen now, who was not", "now if proved else", "now if there else"),
    ],
    "checkup/earshot": [
        (
            "nobody is a fault",
            "found.append(note(_TOPIC, *_silence(",
            "found.append(problem(_TOPIC, *_silence(",
        ),
        ("not heard by itself is fine", "if not look.own:", "if False:"),
        ("trouble is not said", "if look.trouble:", "if False:"),
        ("strangers are called by name", "if machine in others)", ")"),
        ("an impostor is not named", "    if others:\n        said", "    if False:\n        said"),
    ],
}
