"""Other ends of an ssh that are not what they should be: run by sshd in the place of handsoff.

python -m tests.kit.odd_ends KIND CLAIM    CLAIM is the machine id that it says it has
"""

import sys

from handsoff.core.reach.sshtalk import GREETING
from handsoff.core.talk.exchange import Role
from handsoff.core.talk.messages import Accept, Ask, Have, Hello, Offer, Receipt, receipt_payload
from handsoff.edge import keys
from handsoff.edge.ssh import pipes
from handsoff.edge.ssh.talk import Talk
from handsoff.errors import RefusedError


def main(kind: str, claim: str) -> None:
    """Be ``newer`` than any handsoff, or a ``liar`` who takes a parcel and signs for another."""
    stream = pipes.own_streams()
    stream.send(GREETING)
    talk = Talk(stream, Role.RECEIVER)
    if kind == "newer":
        talk.exchange.versions = (9,)
    try:
        talk.hear(Hello)
    except RefusedError as error:
        talk.refuse(error)
        return
    talk.say(Hello((1,), claim, "0"))
    talk.hear(Ask)
    talk.say(Have((), clone=True))
    offer = talk.hear(Offer)
    talk.say(Accept(0))
    talk.receive_parcel(lambda _: None)
    own = keys.need(keys.home_folder())
    claims = {"parcel": offer.parcel, "manifest": "0" * 64, "by": own.id}
    signature = own.sign(receipt_payload(**claims, at=1), "handsoff-receipt")
    talk.say(Receipt(**claims, at=1, signature=signature))
    stream.recv()


if __name__ == "__main__":
    main(*sys.argv[1:])
