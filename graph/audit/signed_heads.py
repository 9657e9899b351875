"""Heads kept apart: where the journal ended at a time, stored elsewhere and signed by a key outside the home.

Who may write in the home can write another journal that is a whole chain. Its hashes differ from those in the stored
heads, and without the key nobody can sign new ones. Keys are Ed25519: to check takes the public one alone.
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
_SIGNATURE = re.compile(r"(?:[0-9a-f]{128})?")
_MOST = 100_000  # heads in a file


@dataclass(frozen=True)
class SignedHead:
    """Where a chain ended at a time, and the signature of that."""

    at: str  # UTC
    link: Link
    signature: str  # hexadecimal, "" when it is not signed
    tenant: str = ""  # whose own chain it is of; "" for the whole journal

    @property
    def payload(self) -> dict[str, Any]:
        """What is signed, as canonical JSON."""
        payload = {"at": self.at, "hash": self.link.hash, "seq": self.link.seq}
        return payload | ({"tenant_id": self.tenant} if self.tenant else {})


def head(link: Link, key: "Ed25519PrivateKey | None", tenant: str = "") -> dict[str, Any]:
    """A head at the present time, as it is stored; signed where a key is given."""
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    payload = SignedHead(at, link, "", tenant).payload
    return payload | ({"signature": key.sign(canonical(payload).encode()).hex()} if key is not None else {})


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


def _read(row: dict[str, Any]) -> SignedHead:
    head = SignedHead(row["at"], Link(row["seq"], row["hash"]), row.get("signature", ""), row.get("tenant_id", ""))
    if type(head.link.seq) is not int or head.link.seq < 1 or not _HASH.fullmatch(head.link.hash):
        raise ValueError
    if not isinstance(head.at, str) or not isinstance(head.tenant, str) or not _SIGNATURE.fullmatch(head.signature):
        raise ValueError
    return head


def unsigned(heads: Iterable[SignedHead], key: "Ed25519PublicKey") -> SignedHead | None:
    """The first head that this key did not sign."""
    from cryptography.exceptions import InvalidSignature

    for head in heads:
        try:
            key.verify(bytes.fromhex(head.signature), canonical(head.payload).encode())
        except InvalidSignature:
            return head
    return None


def differing(heads: Iterable[SignedHead], hashes: Mapping[int, str]) -> SignedHead | None:
    """The first head whose line is missing or has another hash; `hashes` is line number → hash."""
    return next((head for head in heads if hashes.get(head.link.seq) != head.link.hash), None)


def private_key(setting: str, home: Path) -> "Ed25519PrivateKey | None":
    """The key of CORDON_HEAD_KEY, which is PEM or the path of a PEM file; None when it is not set.

    Raises BadSettings for what is no such key, and for a file inside the home.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if not setting:
        return None
    try:
        pem = setting.encode() if setting.startswith("-----BEGIN") else Path(setting).expanduser().read_bytes()
        key = load_pem_private_key(pem, password=None)
        if not isinstance(key, Ed25519PrivateKey):
            raise ValueError("it is of another kind")
    except (OSError, ValueError, TypeError) as error:
        raise BadSettings(
            "CORDON_HEAD_KEY is no Ed25519 private key in PEM, nor a file with one.", hint=MAKE_ONE
        ) from error
    if not setting.startswith("-----BEGIN") and Path(setting).expanduser().resolve().is_relative_to(home.resolve()):
        raise BadSettings("CORDON_HEAD_KEY lies in the home that it is to prove.", hint="Move it elsewhere.")
    return key


def public_key(file: Path) -> "Ed25519PublicKey":
    """The key in a PEM file, which may hold the private one, too. Raises BadInput for anything else."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

    try:
        pem = file.read_bytes()
        key = load_pem_private_key(pem, None) if b"PRIVATE" in pem else load_pem_public_key(pem)
    except (OSError, ValueError, TypeError) as error:
        raise BadInput(f"{file} is no key that can be read.", hint=f"An Ed25519 key in PEM. {MAKE_ONE}") from error
    if isinstance(key, Ed25519PrivateKey):
        return key.public_key()
    if not isinstance(key, Ed25519PublicKey):
        raise BadInput(f"{file} is a key of another kind.", hint=f"An Ed25519 key in PEM. {MAKE_ONE}")
    return key
