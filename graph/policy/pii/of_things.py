"""Whether the words before a number say that it is of a thing that is made, ordered or sent: a batch, an order.

Such a number is no person's, though it looks like a mobile or an identity number. Words that are verbs as well ("order
0300 …", "report 0300 …") count only with "no.", "number" or the like behind them.
"""

import re

from graph.policy.pii.rule import Page

_THING = (
    r"purchase orders?|p\.?o\.?|invoice|receipt|voucher|batch|lot|model|part|item|serial|s/n|asset|inventory|catalogue|"
    r"catalog|consignment|delivery note|quotation|requisition|works? order|docket|ean|gtin|upc|sku|bar ?code|isbn|issn|"
    r"firmware|build"
)
_ALSO_VERB = (
    r"order|article|product|shipment|tracking|transaction|contract|tender|job|report|document|form|drawing|meter|stock|"
    r"sample|equipment|machine|device|patent|project|booking|reservation|quote"
)
_NUMBER = r"(?:no\b\.?|nos\b\.?|number|num\b\.?|nr\b\.?|code|ids?\b|ref\b\.?|reference|#)"
_NAMED = re.compile(
    rf"(?<![a-z])(?:(?:{_THING})(?:\W{{0,3}}{_NUMBER})?|(?:{_ALSO_VERB})\W{{0,3}}{_NUMBER})(?: ?(?:is|was) |\W{{0,3}})$"
)
_WIDTH = 40  # characters before the number


def of_a_thing(page: Page, start: int) -> bool:
    """Whether such words end right before `start`, where the number begins."""
    return _NAMED.search(page.before(start, _WIDTH)) is not None
