"""Sealed texts, for what others keep and may neither read nor change: AES-256-GCM."""

import hmac
import secrets

_NONCE = 12


def derived(secret: bytes, use: str) -> bytes:
    """A key of 32 bytes for one use alone."""
    return hmac.digest(secret, f"cordon {use}".encode(), "sha256")


def seal(key: bytes, text: bytes) -> bytes:
    """A new nonce and the sealed text, for `opened`. The key has 32 bytes."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(_NONCE)
    return nonce + AESGCM(key).encrypt(nonce, text, None)


def opened(key: bytes, sealed: bytes) -> bytes | None:
    """What was sealed; None when it was changed, or sealed with another key."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(sealed[:_NONCE], sealed[_NONCE:], None)
    except (InvalidTag, ValueError):
        return None
