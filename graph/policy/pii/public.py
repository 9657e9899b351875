"""Addresses and numbers that somebody declared public: masking leaves exactly these.

A value is compared by one form of it, so that a phone number counts however it is spelled, and never by a pattern.
Only e-mail addresses and phone numbers can be public.
"""

import hashlib
import re
from dataclasses import dataclass

from graph.policy.text.canonical import canonicalise

KINDS = ("EMAIL", "PHONE")
# Words that name a post, no person. An address of several ("it-support@") is a role's when all of its words are.
_ROLES = frozenset(
    """
    abuse access accommodation accounts admin admissions alumni archive billing board booking bookings bursary campus
    careers catering communications community complaints compliance conduct contact customer data desk diversity dpo
    editor editors education enquiries enquiry ethics events facilities feedback finance foi fraud front gdpr general
    graduate hello help helpdesk helpline host hostmaster hr human info information inquiries international invoices
    it jobs legal library licensing listserv mail mailer maintenance marketing media membership moderators
    newsletter no noc noreply office officer ombudsman ops payments payroll people postmaster press privacy
    procurement protection public purchasing reception records recruitment registrar registry relations reply
    research reservations resources safety sales school secretariat security service servicedesk services
    shop staff student students studentservices support switchboard team tech technical training trust tuition
    undergraduate university us web webmaster welcome whistleblowing
    """.split()
)
_EXTENSION = re.compile(r"(?: ?x| ?ext\.? ?)\d{1,5}$")


def form(kind: str, written: str) -> str:
    """The one form of an e-mail address or phone number: "info@example.org", "+442079460958", "02079460958"."""
    plain = canonicalise(written).text.strip().lower()
    if kind == "EMAIL":
        return plain.replace(" ", "")
    bare = _EXTENSION.sub("", plain).replace("(0)", "").lstrip("( ")
    digits = re.sub(r"\D", "", bare)
    return f"+{digits}" if bare.startswith("+") else f"+{digits[2:]}" if digits.startswith("00") else digits


def spellings(number: str) -> frozenset[str]:
    """The forms that a number may come in; with its country known also without it, and with the zero before it."""
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE

    if number.startswith("+"):
        for width in (1, 2, 3):
            if int(number[1 : 1 + width] or 0) in COUNTRY_CODE_TO_REGION_CODE:
                national = number[1 + width :]
                return frozenset((number, number[1:], national, f"0{national}"))
    return frozenset((number,))


def of_role(address: str) -> bool:
    """Whether an e-mail address is that of a post, such as info@ or it-support@."""
    words = [word for word in re.split(r"[._+-]", address.partition("@")[0]) if word]
    return bool(words) and all(word in _ROLES for word in words)


def digest(value: str) -> str:
    """SHA-256 in hexadecimal, as `Public.gone` holds it."""
    return hashlib.sha256(value.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Public:
    """`values` are forms, and "@example.org" for the role addresses of a domain; `gone` are digests of those that were
    public once; with `roles` every role address is public."""

    values: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    roles: bool = False

    def spares(self, kind: str, written: str) -> str:
        """The form of a value that stays as it stands; "" for what is masked."""
        if kind not in KINDS or not (self.values or self.gone or self.roles):
            return ""
        value = form(kind, written)
        names = [value]
        if kind == "EMAIL" and of_role(value):
            if self.roles:
                return value
            names.append(value[value.index("@") :] if "@" in value else "")
        public = any(name in self.values or (self.gone and digest(name) in self.gone) for name in names)
        return value if public else ""


NOTHING = Public()
