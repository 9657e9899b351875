"""Bitcoin addresses (Base58Check of BIP 13, Bech32 of BIP 173) and Ethereum addresses (40 hexadecimal digits)."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BITCOIN = re.compile(r"(?<!\w)[13][1-9A-HJ-NP-Za-km-z]{25,34}(?!\w)")
_SEGWIT = re.compile(r"(?<!\w)bc1[02-9ac-hj-np-z]{11,71}(?!\w)")
_ETHEREUM = re.compile(r"(?<!\w)0x[0-9a-f]{40}(?!\w)")


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _BITCOIN.finditer(page.text):
        if _base58_checks(match.group()):
            yield RuleMatch(match.start(), match.end(), 0.98)
    for pattern in (_SEGWIT, _ETHEREUM):
        for match in pattern.finditer(page.low):
            yield RuleMatch(match.start(), match.end(), 0.85)


def _base58_checks(address: str) -> bool:
    import hashlib

    value = 0
    for char in address:
        value = value * 58 + _BASE58.index(char)
    if value >= 1 << 200:
        return False
    raw = value.to_bytes(25, "big")
    return hashlib.sha256(hashlib.sha256(raw[:21]).digest()).digest()[:4] == raw[21:]


RULE = Rule("CRYPTO_WALLET", _find, digits=1)
