"""The one SSH profile of both ends: algorithms, sizes, time-outs, keys. Imports asyncssh.

AES-GCM first, since asyncssh's own first choice is three times slower; the post-quantum key
exchange where the cryptography library has it. With glibc, packets of 128 KiB are the fastest
once malloc keeps such blocks instead of mapping each anew; elsewhere 64 KiB stay under malloc's
threshold.
"""

import ctypes
import getpass
import hashlib
import os
import sys
from base64 import b64encode
from typing import Any, Final

import asyncssh
from asyncssh.kex import get_kex_algs
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from handsoff.core.sshwire import public_blob

SERVICE: Final = "handsoff"
"""Name of the one subsystem, and the user name that every machine gives."""

WINDOW: Final = 1 << 20
"""Bytes in flight: more is not faster, and what is in flight when a line is cut goes twice."""

SILENCE: Final = 28.0
"""Seconds after which a peer that says nothing, and answers no question, is gone."""

_KEX: Final = ("mlkem768x25519-sha256", "curve25519-sha256")


def common() -> dict[str, Any]:
    """Return the options that both ends give asyncssh."""
    available = get_kex_algs()
    return {
        "config": None,
        "kex_algs": [name for name in _KEX if name.encode() in available],
        "encryption_algs": ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com"],
        "compression_algs": None,
        "signature_algs": ["ssh-ed25519"],
        "x509_trusted_certs": None,
        "x509_trusted_cert_paths": [],
        "host_based_auth": False,
        "kbdint_auth": False,
        "password_auth": False,
        "gss_host": None,
        "gss_kex": False,
        "gss_auth": False,
        # asyncssh counts questions without an answer, and an answer waits behind what is in
        # flight: few long intervals spare a slow peer, whose signs of life come in between
        "keepalive_interval": SILENCE / 2,
        "keepalive_count_max": 1,
        "encoding": None,
        "window": WINDOW,
        "max_pktsize": PACKET,
    }


def ssh_key(private_key: bytes) -> asyncssh.SSHKey:
    """Return a raw 32-byte Ed25519 seed as asyncssh takes it."""
    key = Ed25519PrivateKey.from_private_bytes(private_key)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    return asyncssh.import_private_key(pem)


def raw_public(key: asyncssh.SSHKey) -> bytes | None:
    """Return the raw 32 bytes of an Ed25519 public key, None for any other kind."""
    raw = key.public_data[-32:]
    return raw if key.public_data == public_blob(raw) else None


def fingerprint(key: asyncssh.SSHKey) -> str:
    """Return the OpenSSH fingerprint of a key of any kind."""
    digest = hashlib.sha256(key.public_data).digest()
    return "SHA256:" + b64encode(digest).decode("ascii").rstrip("=")


def _keep_large_blocks() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt  # glibc; musl has none
    except (OSError, AttributeError):
        return False
    # malloc.h: M_MMAP_THRESHOLD -3, M_TRIM_THRESHOLD -1, M_TOP_PAD -2
    return all([mallopt(-3, 1 << 30), mallopt(-1, 1 << 30), mallopt(-2, 16 << 20)])


def _name_the_user() -> None:
    # asyncssh wants a local user name, though nothing here uses it, and a container may have none
    try:
        getpass.getuser()
    except (KeyError, OSError):
        os.environ["LOGNAME"] = SERVICE


_name_the_user()

PACKET: Final = 128 << 10 if _keep_large_blocks() else 64 << 10
