"""From the claims of an ID token to who it speaks for. What is missing gives the fewest rights; what is odd
is refused."""

from typing import Any, cast, get_args

from graph.context import Principal, Role, key_of, valid_groups, valid_id, valid_tenant
from graph.errors import BadInput, Forbidden
from graph.settings import Settings

_OPERATOR_MENDS = "Ask the operator: docs/service.md says which claims Cordon reads."
_NAMES = ("name", "preferred_username", "email")


def principal_of(claims: dict[str, Any], settings: Settings) -> Principal:
    """Raises Forbidden, which says what is wrong with which claim."""
    return Principal(
        _tenant(claims, settings.oidc_tenant_claim),
        _user(claims, settings.oidc_user_claim),
        _role(claims, settings.oidc_role_claim),
        _groups(claims, settings.oidc_groups_claim),
    )


def name_of(claims: dict[str, Any]) -> str:
    """The person's name as the page shows it; "" when the provider gives none."""
    shown = next((claims[name] for name in _NAMES if isinstance(claims.get(name), str)), "")
    return "".join(c for c in shown if c.isprintable()).strip()


def _tenant(claims: dict[str, Any], name: str) -> str:
    value = _claim(claims, name)
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    if value is None:
        raise Forbidden(f"your account has no tenant: the claim {name!r} is missing.", hint=_OPERATOR_MENDS)
    try:
        return valid_tenant(value)
    except BadInput as error:
        raise Forbidden(f"the claim {name!r} names no tenant: {error}", hint=_OPERATOR_MENDS) from error


def _user(claims: dict[str, Any], name: str) -> str:
    value = _claim(claims, name)
    if not isinstance(value, str) or not value:
        raise Forbidden(f"the claim {name!r}, which says who you are, is missing.", hint=_OPERATOR_MENDS)
    try:
        return valid_id(value, "user")
    except BadInput:
        return key_of("oidc", value)  # providers' ids may have any characters


def _role(claims: dict[str, Any], name: str) -> Role:
    """Never operator: who signs for tenants does not name who runs the service, and operators have keys."""
    value = _claim(claims, name)
    if value is None:
        return "member"
    known = [role for role in get_args(Role) if role != "operator"]
    named = [one for one in known if one in value] if isinstance(value, list) else [value]
    if not named:
        return "member"
    if len(named) > 1 or named[0] not in known:
        raise Forbidden(f"the claim {name!r} is not one of {', '.join(known)}.", hint=_OPERATOR_MENDS)
    return cast(Role, named[0])


def _groups(claims: dict[str, Any], name: str) -> frozenset[str]:
    elsewhere = claims.get("_claim_names")
    if isinstance(elsewhere, dict) and name in elsewhere:
        raise Forbidden(
            "you are in more groups than the provider writes into a token.",
            hint="Ask the operator: the provider can send only the groups assigned to this application.",
        )
    value = _claim(claims, name)
    try:
        return valid_groups(() if value is None else value)
    except BadInput as error:
        raise Forbidden(f"the claim {name!r} will not do: {error}", hint=_OPERATOR_MENDS) from error


def _claim(claims: dict[str, Any], name: str) -> Any:
    """A claim by its name, or by the path to it, such as `realm_access.roles`; None where it is missing."""
    if name in claims:
        return claims[name]
    value: Any = claims
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
