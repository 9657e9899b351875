"""`manifest.csv` (doc_id, tenant, path) and `tenant_acl.csv` (tenant_id, doc_id, visibility, pii, retention_policy, and
if wanted groups).

The manifest says what there is, the ACL who may read it: all of the tenant, or some of its groups (`staff;board`). A
document without an ACL row is read by nobody.
"""

import csv
import os
from collections.abc import Iterator
from pathlib import Path

from graph.context import PUBLIC, groups_of, space_name, valid_id, valid_tenant
from graph.errors import BadInput
from graph.knowledge.ingest import Source, expiry

MANIFEST = ("doc_id", "tenant", "path")
ACL = ("tenant_id", "doc_id", "visibility", "pii", "retention_policy")
GROUPS = "groups"


def sources(manifest: Path, acl: Path) -> list[Source]:
    """What to ingest. Raises BadInput with file and line for anything that is not as it should be."""
    grants: dict[str, list[dict[str, str]]] = {}
    for line, row in _rows(acl, ACL, GROUPS):
        if row["visibility"] not in ("private", PUBLIC):
            raise _bad(acl, line, f"visibility {row['visibility']!r} is neither private nor public.")
        if row["pii"].upper() not in ("Y", "N"):
            raise _bad(acl, line, f"pii {row['pii']!r} is neither Y nor N.")
        try:
            expiry(row["retention_policy"])
            if row["visibility"] == "private":
                valid_tenant(row["tenant_id"])
            groups = groups_of(row[GROUPS], ";")
        except BadInput as error:
            raise _bad(acl, line, str(error)) from error
        if groups and row["visibility"] == PUBLIC:
            raise _bad(acl, line, f"{row['doc_id']!r} is public, so it has no groups.")
        row["space"] = space_name(row["tenant_id"], groups)
        others = grants.setdefault(row["doc_id"], [])
        if any(o["tenant_id"] == row["tenant_id"] and o["space"] != row["space"] for o in others):
            raise _bad(acl, line, f"{row['doc_id']!r} is for other groups here than above: name all in one row.")
        if others and others[0]["visibility"] != row["visibility"]:
            raise _bad(acl, line, f"{row['doc_id']!r} is {row['visibility']} here and {others[0]['visibility']} above.")
        others.append(row)
    tenants = {row["tenant_id"] for rows in grants.values() for row in rows if row["visibility"] == "private"}

    by_id: dict[str, Source] = {}
    for line, row in _rows(manifest, MANIFEST):
        doc_id = row["doc_id"]
        try:
            valid_id(doc_id, "doc_id")
        except BadInput as error:
            raise _bad(manifest, line, str(error)) from error
        if doc_id in by_id:
            raise _bad(manifest, line, f"doc_id {doc_id!r} stands there twice.")
        rows = grants.get(doc_id)
        if not rows:
            raise _bad(manifest, line, f"{doc_id!r} has no row in {acl.name}, so nobody may read it.")
        named = list(dict.fromkeys(r["tenant_id"] for r in rows))
        # What belongs to everybody may have any name in the manifest, but not another tenant's.
        nobodys = not {*named} - {PUBLIC, ""} and row["tenant"] not in tenants
        if row["tenant"] not in named and not nobodys:
            raise _bad(manifest, line, f"tenant {row['tenant']!r} of {doc_id!r} has no row for it in {acl.name}.")
        public = rows[0]["visibility"] == PUBLIC
        by_id[doc_id] = Source(
            path=_inside(manifest, line, row["path"]),
            name=Path(row["path"]).name,
            spaces=(PUBLIC,) if public else tuple(dict.fromkeys(r["space"] for r in rows)),
            tenant_id=PUBLIC if public else named[0],
            doc_id=doc_id,
            listed=True,
            pii=any(r["pii"].upper() == "Y" for r in rows),
            retention=min((r["retention_policy"] for r in rows), key=lambda p: expiry(p)[1] or "~"),
        )
    return list(by_id.values())


def _rows(path: Path, columns: tuple[str, ...], also: str = "") -> Iterator[tuple[int, dict[str, str]]]:
    """`also` is a column that may be left out: then it is empty."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}.") from error
    reader = csv.DictReader(text.splitlines())
    header = tuple(reader.fieldnames or ())
    if header not in (columns, (*columns, also)):
        wanted = ",".join(columns) + (f", and if wanted {also}" if also else "")
        raise BadInput(f"{path.name} has the columns {reader.fieldnames}, expected {wanted}.")
    for row in reader:
        if None in row or None in row.values():
            raise _bad(path, reader.line_num, f"expected {len(header)} values.")
        yield reader.line_num, {also: ""} | {key: value.strip() for key, value in row.items()}


def _inside(manifest: Path, line: int, name: str) -> Path:
    """The file, relative to the manifest's folder or the one above (where seed A's paths begin), never outside. It need
    not be there: then it fails alone."""
    roots = [manifest.absolute().parent, manifest.absolute().parent.parent]
    try:
        within = [path for r in roots if (path := (r / name).resolve()) != r and path.is_relative_to(r.resolve())]
    except (ValueError, RuntimeError):  # a name that no file can have, links in a circle
        within = []
    if not within or not Path(name).name:
        raise _bad(manifest, line, f"{name!r} is no path below the manifest.")
    return next(filter(os.path.isfile, within), within[0])


def _bad(path: Path, line: int, message: str) -> BadInput:
    return BadInput(f"{path.name}, line {line}: {message}")
