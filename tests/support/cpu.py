"""How much of the processor a call takes."""

import time
import timeit
from collections.abc import Callable


def seconds(call: Callable[[], object], times: int = 1) -> float:
    """Seconds of processor for so many calls. The garbage collector is off: what it takes depends on all that the
    process holds, not on the call."""
    return timeit.Timer(call, timer=time.process_time).timeit(times)
