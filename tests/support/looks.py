"""One answer with all that answers are made of, for every way to draw it."""

ANSWER = """The kiln opens at nine. [1] Fire it in this order: [2]

1. Check the vent.
2. Load the shelves.
   - Leave 3 cm.
3. Close the door. [1] Cone: 06; Temperature: 999 C; Hold: 10 minutes [1] Cone: 6; Hold: 15 minutes | more [2]

```
if kilnctl status; then
    kilnctl reset <port>
fi
``` [1] Call [REDACTED] then. [2]"""
