"""Heads kept apart: where the journal ended at a time, on a line that lies elsewhere, signed by a key outside the home.

Who may write in the home can write another journal that is a whole chain. It does not have the hashes that were kept,
and without the key it cannot sign others. Keys are Ed25519: whoever checks needs the public one alone.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph.audit.chain import canonical
from graph.errors import BadInput, BadSettings
from graph.stores.journal import Link

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

MAKE_ONE = "`openssl genpkey -algorithm ed25519 -out head.key` makes one; keep it outside the home."
_HASH = re.compile(r"[0-9a-f]{64}")
_MOST = 100_000  # heads in a file


@dataclass(frozen=True)
class SignedHead:
    """Where a chain ended at a time, and the signature of that."""

    at: str  # UTC
    link: Link
    signature: str  # hexadecimal, "" when it is not signed
    tenant: str = ""  # whose own chain it is of; "" for the whole journal

    @property
    def told(self) -> dict[str, Any]:
        """What is signed."""
        told = {"at": self.at, "hash": self.link.hash, "seq": self.link.seq}
        return told | ({"tenant_id": self.tenant} if self.tenant else {})

    @property
    def bound(self) -> bytes:
        return canonical(self.told).encode()


def head(link: Link, key: "Ed25519PrivateKey | None", tenant: str = "") -> dict[str, Any]:
    """A head as it is kept, now."""
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    kept = SignedHead(at, link, "", tenant)
    return kept.told | ({"signature": key.sign(kept.bound).hex()} if key is not None else {})


def read(file: Path) -> list[SignedHead]:
    """The heads in a file, one a line. Raises BadInput for anything else."""
    try:
        lines = [text for text in file.read_text().splitlines() if text.strip()]
        if not 0 < len(lines) <= _MOST:
            raise ValueError
        return [_read(json.loads(text)) for text in lines]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(
            f"{file} holds no heads of a journal.", hint="`cordon audit head >> FILE` adds one; keep FILE elsewhere."
        ) from error


def _read(told: dict[str, Any]) -> SignedHead:
    kept = SignedHead(told["at"], Link(told["seq"], told["hash"]), told.get("signature", ""), told.get("tenant_id", ""))
    if type(kept.link.seq) is not int or kept.link.seq < 1 or not _HASH.fullmatch(kept.link.hash):
        raise ValueError
    if (
        not isinstance(kept.at, str)
        or not isinstance(kept.tenant, str)
        or not re.fullmatch(r"(?:[0-9a-f]{128})?", kept.signature)
    ):
        raise ValueError
    return kept


def unsigned(heads: Iterable[SignedHead], key: "Ed25519PublicKey") -> SignedHead | None:
    """The first that this key did not sign."""
    from cryptography.exceptions import InvalidSignature

    for head in heads:
        try:
            key.verify(bytes.fromhex(head.signature), head.bound)
        except InvalidSignature:
            return head
    return None


def differing(heads: Iterable[SignedHead], there: Mapping[int, str]) -> SignedHead | None:
    """The first whose line is not there, by the hashes at these places."""
    return next((head for head in heads if there.get(head.link.seq) != head.link.hash), None)


def private_key(said: str, home: Path) -> "Ed25519PrivateKey | None":
    """Of CORDON_HEAD_KEY: PEM, or the path of a file with it; None when it is not set.

    Raises BadSettings for what is no such key, and for a file inside the home.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if not said:
        return None
    try:
        pem = said.encode() if said.startswith("-----BEGIN") else Path(said).expanduser().read_bytes()
        found = load_pem_private_key(pem, password=None)
        if not isinstance(found, Ed25519PrivateKey):
            raise ValueError("it is of another kind")
    except (OSError, ValueError, TypeError) as error:
        raise BadSettings(
            "CORDON_HEAD_KEY is no Ed25519 private key in PEM, nor a file with one.", hint=MAKE_ONE
        ) from error
    if not said.startswith("-----BEGIN") and Path(said).expanduser().resolve().is_relative_to(home.resolve()):
        raise BadSettings("CORDON_HEAD_KEY lies in the home that it is to prove.", hint="Move it elsewhere.")
    return found


def public_key(file: Path) -> "Ed25519PublicKey":
    """Of a PEM file with the public or the private key. Raises BadInput for anything else."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

    try:
        pem = file.read_bytes()
        found = load_pem_private_key(pem, None) if b"PRIVATE" in pem else load_pem_public_key(pem)
    except (OSError, ValueError, TypeError) as error:
        raise BadInput(f"{file} is no key that can be read.", hint=f"An Ed25519 key in PEM. {MAKE_ONE}") from error
    if isinstance(found, Ed25519PrivateKey):
        return found.public_key()
    if not isinstance(found, Ed25519PublicKey):
        raise BadInput(f"{file} is a key of another kind.", hint=f"An Ed25519 key in PEM. {MAKE_ONE}")
    return found
