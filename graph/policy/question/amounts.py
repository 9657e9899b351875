"""Amounts of a question as documents may write them: "1500 euros" is "EUR 1,500.00", "2.5 million" is "2,500,000"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

MOST = 4  # amounts of a question that are looked for
_LEAST = 1000  # a smaller number without a currency is written alike everywhere
_LARGER = {"thousand": 10**3, "k": 10**3, "million": 10**6, "m": 10**6, "mn": 10**6, "billion": 10**9, "bn": 10**9}
_CURRENCIES = {
    "EUR": r"eur|euros?|€",
    "USD": r"usd|us ?dollars?|dollars?|us\$|\$",
    "GBP": r"gbp|pounds?(?: sterling)?|£",
    "PKR": r"pkr|rupees?|rs\.?|₨",
    "INR": r"inr|rupees?|rs\.?|₹",
    "CHF": r"chf|(?:swiss )?francs?|sfr\.?",
    "JPY": r"jpy|yen|¥",
    "SEK": r"sek|crowns?|kronor|kr\.?",
    "NOK": r"nok|crowns?|kroner|kr\.?",
    "DKK": r"dkk|crowns?|kroner|kr\.?",
    "CZK": r"czk|crowns?|koruna|kč",
    "AED": r"aed|dirhams?|dhs?\.?",
    "SAR": r"sar|riyals?",
    "TRY": r"try|lira|₺",
    "CNY": r"cny|rmb|yuan|¥",
}
_CURRENCY = "|".join(sorted({name for names in _CURRENCIES.values() for name in names.split("|")}, key=len)[::-1])
_DIGITS = r"\d{1,3}(?:[,'’  \u202f]\d{3})+(?:\.\d{1,2})?|\d{1,3}(?:\.\d{3})+(?:,\d{1,2})?|\d+(?:[.,]\d{1,2})?"
_AMOUNT = re.compile(
    rf"(?<![\w.,:/#-])(?:(?P<before>{_CURRENCY}) ?)?(?P<number>{_DIGITS})(?! ?[.,:/'’-]?\d|\w*\d)"
    rf"(?: ?(?P<larger>thousand|million|billion|mn|bn|[km])(?![\w²³]))?(?: ?(?P<after>{_CURRENCY})(?!\w))?(?![\w%°])",
    re.I,
)


@dataclass(frozen=True)
class Amount:
    """text[start:end] is an amount of `value`, in one of `currencies`; none where it names no currency."""

    start: int
    end: int
    value: Decimal
    currencies: frozenset[str]
    written: str

    def same(self, other: "Amount") -> bool:
        """Whether both are one amount: a currency that one of them leaves out is not compared."""
        alike = not self.currencies or not other.currencies or bool(self.currencies & other.currencies)
        return self.value == other.value and alike


def find(text: str) -> Iterator[Amount]:
    """Amounts in the order of the text. "1.500" is read as one and a half thousand."""
    for match in _AMOUNT.finditer(text):
        number = match["number"]
        if "." in number and re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d{1,2})?", number):
            number = number.replace(".", "").replace(",", ".")
        elif re.fullmatch(r"\d+,\d{1,2}", number):
            number = number.replace(",", ".")
        names = [match[part] for part in ("before", "after") if match[part]]
        codes = {c for c, pattern in _CURRENCIES.items() for name in names if re.fullmatch(pattern, name, re.I)}
        larger = (match["larger"] or "").lower()
        if larger in ("k", "m") and not names:
            continue  # three metres
        value = Decimal(re.sub(r"[^\d.]", "", number)) * _LARGER.get(larger, 1)
        yield Amount(*match.span(), value, frozenset(codes), match.group())


def asked(question: str) -> list[Amount]:
    """The first MOST amounts that documents may write in another way: with a currency, or from _LEAST and no year."""
    year = re.compile(r"(?:19|20)\d\d")
    amounts = [a for a in find(question) if a.currencies or (a.value >= _LEAST and not year.fullmatch(a.written))]
    return amounts[:MOST]


def phrases(amount: Amount) -> list[tuple[str, str]]:
    """Words under which a document's index may have the amount, and how its text writes them."""
    whole = int(amount.value)
    forms = [str(whole), *(f"{whole:,}".replace(",", mark) for mark in ",.'’ \u202f\u00a0")]
    for size, name in ((10**9, "billion"), (10**6, "million")):
        if whole >= size and (larger := (amount.value / size).normalize()) == round(larger, 2):
            forms.append(f"{larger:f} {name}")
    return [(re.sub(r"\W+", " ", form), form) for form in dict.fromkeys(forms)]
