"""How many files of one kind may stay open, as the process is allowed to have files open at all."""

import resource

_MOST, _LEAST = 32, 8  # databases of one kind that stay open when nobody uses them


def share(each: int) -> int:
    """How many things that take `each` files may stay open: together no more than a fifth of what is allowed."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return _MOST
    return max(_LEAST, min(_MOST, allowed // 5 // each))
