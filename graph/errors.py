"""What can go wrong, as one tree.

    CordonError
    ├── BadInput            the caller can mend it: an id, a path, a setting, an option
    │   ├── NotFound        no such document, thread or run, or someone else's: the same words for both
    │   ├── Conflict        it was decided already, or cannot be done as things stand now
    │   └── BadSettings     a setting is unknown or has a bad value
    ├── DocumentError       a document cannot be read; .reason is a short code
    │   └── Quarantined     it was refused on purpose (encrypted, empty, a bomb, …)
    ├── Unavailable         the model, the index or the disk is not there now; try again later
    │   ├── ModelUnavailable
    │   └── IndexUnavailable
    └── Forbidden           no tenant in the credential, or someone else's thread

A refusal is not an error: it is a value in the reply, with a code. An error is never recognised by its text.
"""


class CordonError(Exception):
    """Anything Cordon raises on purpose. `str(error)` says what was wrong; `hint` says what to do."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class BadInput(CordonError):
    """The request cannot be served as it stands."""

    exit_code = 2


class NotFound(BadInput):
    """There is no such thing, or it is someone else's: nobody can tell which."""


class Conflict(BadInput):
    """Somebody else was first, or what it rests on has changed."""

    exit_code = 1


class BadSettings(BadInput):
    """A setting is unknown or its value is out of range."""


class DocumentError(CordonError):
    """A document could not be read. `reason` is one of the short codes listed in graph/knowledge/loaders."""

    def __init__(self, reason: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class Quarantined(DocumentError):
    """A document was refused on purpose: reading it would be wrong or dangerous."""


class Unavailable(CordonError):
    """Something that Cordon needs is not there now. Never the same as AccessDenied or "no results"."""

    exit_code = 4


class ModelUnavailable(Unavailable):
    """The model server is down, too slow, misconfigured or lacks the model."""


class IndexUnavailable(Unavailable):
    """The index is locked, missing or broken."""


class Forbidden(CordonError):
    """The caller has no tenant, or the thread is not theirs."""

    exit_code = 2
