"""All spaces below one directory, a file each; those of a tenant's groups in a folder of the tenant's."""

import logging
import os
import shutil
import threading
import uuid
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from pathlib import Path

from graph.context import space_key, whose
from graph.errors import CordonError, IndexUnavailable
from graph.files import alone_in, private_directory
from graph.stores.embedded import open_files
from graph.stores.embedded.space import SqliteSpace
from graph.stores.vectors import Vectors

FILES_OF_A_SPACE = 3  # SQLite holds the database, its log and the log's index open
log = logging.getLogger("cordon.index")


class SqliteSpaces:
    """Hold a HomeLock. Of the spaces that are not in use the latest `most_open` stay open. `embeddings` names the model
    that all vectors are of."""

    def __init__(self, directory: Path, embeddings: str, vectors: Vectors, *, most_open: int | None = None) -> None:
        self._embeddings, self._vectors = embeddings, vectors
        self._most_open = most_open or open_files.share(FILES_OF_A_SPACE)
        self._directory = directory
        self._spaces: dict[str, SqliteSpace] = {}
        self._used: dict[str, SqliteSpace] = {}  # those that may be open, the one used last at the end
        self._marked: dict[str, str] = {}  # marker of a space that groups share → its name, which never changes
        self._opening = threading.RLock()

    def close(self) -> None:
        for space in self._spaces.values():
            space.close()
        self._spaces.clear()
        self._used.clear()
        self._vectors.close()

    def space(self, name: str, *, create: bool = False) -> SqliteSpace | None:
        with self._opening:  # two threads that open one space would each keep vectors of their own
            space = self._space(name, create)
            if space is not None:
                self._used[space.key] = self._used.pop(space.key, space)
                self._rest()
            return space

    def _rest(self) -> None:
        """Let go of the spaces that were not used for longest. One in which a thread is at work stays open, and a
        thread that comes back to one that rests opens it again."""
        for key in list(self._used)[: -self._most_open]:
            if self._used[key].rest():
                del self._used[key]

    def _path(self, name: str) -> Path:
        tenant, groups = whose(name)
        folder = self._directory / "spaces"
        return (folder / space_key(tenant) if groups else folder) / f"{space_key(name)}.db"

    def _space(self, name: str, create: bool) -> SqliteSpace | None:
        key = space_key(name)
        if create:
            private_directory(self._directory)
        if key not in self._spaces:
            path = self._path(name)
            marker = path.with_suffix(".made")
            if not create and not marker.exists():
                return None  # nothing was put there, or another process is making it
            if not create and not path.exists():
                raise IndexUnavailable(
                    "the index of this tenant is gone, though documents were ingested.",
                    hint="Restore it from a backup, or run `cordon ingest` again.",
                )
            space = self._made(path, name) if create else SqliteSpace(path, self._vectors)
            if (embeddings := space.meta("embeddings")) != self._embeddings:
                space.close()
                raise IndexUnavailable(
                    f"the index was made with the embeddings {embeddings!r}, not {self._embeddings!r}.",
                    hint=f"Set CORDON_EMBEDDINGS back, or give {self._embeddings!r} a CORDON_HOME of its own.",
                )
            self._spaces[key] = space
        return self._spaces[key]

    def _made(self, path: Path, name: str) -> SqliteSpace:
        with alone_in(path.parent):
            space = SqliteSpace(path, self._vectors, create=True)
            if not space.meta("embeddings"):
                space.set_meta("embeddings", self._embeddings)
                space.set_meta("tenant", name)
                space.set_meta("made", uuid.uuid4().hex)
            marker = path.with_suffix(".made")  # last: whoever sees it finds the space whole
            if not marker.exists():
                fresh = path.with_suffix(".new")
                with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                    file.write(name)
                fresh.replace(marker)
            return space

    def reading(self) -> AbstractContextManager[None]:
        return nullcontext()  # a reader of a file would keep its lock meanwhile

    def names(self) -> list[str]:
        names = []
        for path in sorted((self._directory / "spaces").rglob("*.db")):
            with closing(SqliteSpace(path)) as space:
                names.append(space.name)
        return [name for name in names if name]

    def audiences(self, tenant: str) -> list[str]:
        """Read from the markers: no other group's database is touched to tell what there is."""
        folder = self._path(tenant).with_suffix("")
        try:
            markers = [entry.path for entry in os.scandir(folder) if entry.name.endswith(".made")]
        except FileNotFoundError:
            return []
        except OSError as error:
            why = f"the index in {folder.name} cannot be read ({error.strerror})."
            raise IndexUnavailable(why, hint="Mend its permissions.") from error
        return sorted(name for marker in markers if (name := self._named(marker)))

    def _named(self, marker: str) -> str:
        """ "" for one that is gone, or says what it cannot be."""
        if marker not in self._marked:
            with suppress(OSError, ValueError):
                name = Path(marker).read_text(encoding="utf-8")
                if str(self._path(name).with_suffix(".made")) == marker:
                    self._marked[marker] = name
        return self._marked.get(marker, "")

    def drop(self, name: str, *, if_empty: bool = False) -> None:
        """With the space's file all copies of vectors go, and those of the other spaces are made anew."""
        if if_empty and ((space := self.space(name)) is None or space.count()[0]):
            return
        self._vectors.drop()
        key, path = space_key(name), self._path(name)
        if key in self._spaces:
            self._used.pop(key, None)
            self._spaces.pop(key).close()
        for file in path.parent.glob(f"{key}.*"):
            file.unlink()
        if whose(name)[1] and path.parent.exists() and not any(path.parent.iterdir()):
            path.parent.rmdir()
        shutil.rmtree(self._directory / "chroma", ignore_errors=True)  # made by another setting of CORDON_VECTORS
        for other in self.names():
            self.sync(other)

    def sync(self, name: str) -> None:
        """A copy of the vectors that is damaged is made anew."""
        try:
            self._sync(name)
        except CordonError:
            raise
        except Exception as error:
            try:
                self._vectors.drop()
                for other in self.names():
                    self._sync(other)
            except Exception as again:
                raise IndexUnavailable(
                    f"the vector index cannot be written, nor made anew ({type(again).__name__}).",
                    hint=self._vectors.mending,
                ) from again
            log.warning("the vector index was damaged (%s); it was made anew from the documents.", type(error).__name__)

    def _sync(self, name: str) -> None:
        space = self.space(name)
        if space is not None:
            if not space.meta("made"):
                space.set_meta("made", uuid.uuid4().hex)  # so that no copy of another file of this name is taken for it
            space.build_postings()
            with space.reading():
                self._vectors.sync(space)
