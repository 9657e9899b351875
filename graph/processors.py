"""How many processor cores this process may use."""

import math
import os
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # of a container, cgroup v2: microseconds of processor, or max, and the period


def available(quota: Path = _QUOTA) -> int:
    """Cores this process may run on, at least 1. A part of a core counts as one: a container with 1.5 has 2."""
    allowed = getattr(os, "sched_getaffinity", None)
    cores = len(allowed(0)) if allowed else os.cpu_count() or 1
    try:
        used, period = map(int, quota.read_text().split())
    except (OSError, ValueError):  # no container, or none with a quota
        return cores
    return max(1, min(cores, math.ceil(used / period)))
