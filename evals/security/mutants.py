"""Breaks the walls between tenants, users and groups one by one, in a copy of the code: does a test see it?

    python -m evals.security.mutants            a row for each; exit 1 when one lives
    python -m evals.security.mutants NAME ...   these alone

A mutant is a piece of the real code and what stands in its place. It dies when one of the checks that are named with
it fails: the two worlds (evals/security/worlds.py) or a test. First every check passes on the code as it is. A mutant
whose piece is not found once is an error: the code has moved on, and the mutant must, too. Needs a checkout.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from evals.process import ROOT

WORLDS = "worlds"
_LIMIT_S = 900  # of one check


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    old: str
    new: str
    checks: tuple[str, ...] = (WORLDS,)


_INDEX, _SPACES = "graph/knowledge/index.py", "graph/stores/embedded/spaces.py"
_TALKS, _JOBS, _PAGES = "graph/stores/embedded/conversations.py", "graph/service/http/jobs.py", "graph/audit/chain.py"
_ACCESS, _GROUPS, _AUDIT = (
    "tests/flow/test_i4_access.py",
    "tests/service/http/test_groups.py",
    "tests/service/http/test_audit.py",
)
_ALL = "filter(None, map(self.space, self.spaces.names()))"
_READ = "            spaces = [space for _, space in self.visible(reader)]\n"

MUTANTS = (
    Mutant("space key folded", "graph/context.py", 'key_of("space", tenant, *', 'key_of("space", tenant.casefold(), *'),
    Mutant(
        "space key of the first letters",
        "graph/context.py",
        'key_of("space", tenant, *',
        'key_of("space", tenant[:2], *',
    ),
    Mutant(
        "names joined without their lengths",
        "graph/context.py",
        'digest.update(len(raw).to_bytes(8, "big") + raw)',
        "digest.update(raw)",
        ("tests/graph/test_context.py",),
    ),
    Mutant(
        "conversations by a folded tenant",
        _TALKS,
        "        name = key_of(tenant)\n",
        "        name = key_of(tenant.lower())\n",
        (WORLDS, "tests/graph/stores/test_conversations.py"),
    ),
    Mutant(
        "everybody sees the spaces of every group",
        _INDEX,
        "            if groups & reader.groups:\n",
        "            if True:\n",
        (WORLDS, _GROUPS),
    ),
    Mutant(
        "people without groups see them all",
        _INDEX,
        " if reader.groups else ():\n            groups = whose(name)[1]\n            if groups & reader.groups:\n",
        ":\n            groups = whose(name)[1]\n            if not reader.groups or groups & reader.groups:\n",
        (WORLDS, _GROUPS),
    ),
    Mutant(
        "another tenant's space is searched, too",
        _INDEX,
        '        pairs.append(("public", PUBLIC))\n',
        '        pairs += [("public", PUBLIC), ("public/", "U2")]\n',
    ),
    Mutant(
        "the guard does not ask who may read",
        "nodes/guard.py",
        "        if why is not None:\n",
        "        if False:\n",
        (_ACCESS,),
    ),
    Mutant(
        "groups are not asked for again",
        "graph/policy/evidence/access.py",
        '        return "group"\n',
        "        pass\n",
        ("tests/flow/test_groups.py",),
    ),
    Mutant(
        "the tenant is not asked for again",
        "graph/policy/evidence/access.py",
        '        return "tenant"\n',
        "        pass\n",
        (_ACCESS,),
    ),
    Mutant(
        "rarity counted over all tenants",
        _INDEX,
        "        total = sum(one.chunks for _, one in by_space)\n",
        f"        total = sum(s.count()[1] for s in {_ALL})\n",
    ),
    Mutant(
        "words put right from everybody's documents",
        _INDEX,
        _READ,
        f"            spaces = list({_ALL})\n",
        (WORLDS, "tests/flow/test_groups.py", "tests/flow/test_x2_non_interference.py"),
    ),
    Mutant(
        "documents meant by their subject among all tenants",
        _INDEX,
        "[one for _, space in self.visible(reader) for one in space.document_names()]",
        f"[one for space in {_ALL} for one in space.document_names()]",
        (WORLDS, "tests/flow/test_x2_non_interference.py", "tests/graph/knowledge/test_mentions.py"),
    ),
    Mutant(
        "an empty home counted over all tenants",
        _INDEX,
        "        return all(space.empty() for _, space in self.visible(reader))\n",
        f"        return all(space.empty() for space in {_ALL})\n",
        (WORLDS, "tests/flow/test_x2_non_interference.py"),
    ),
    Mutant(
        "twins looked for in everybody's documents",
        "graph/knowledge/ingest.py",
        "        for one in spaces\n        if (space := index.space(one))\n",
        "        for one in index.spaces.names()\n        if (space := index.space(one)) and space.by_hash(sha256)\n",
        (WORLDS, "tests/flow/test_x2_non_interference.py"),
    ),
    Mutant(
        "ids chosen among everybody's documents",
        "graph/knowledge/ingest.py",
        "    for name in source.spaces:\n        space = index.space(name)\n",
        "    for name in index.spaces.names():\n        space = index.space(name)\n",
        (WORLDS, "tests/flow/test_x2_non_interference.py"),
    ),
    Mutant(
        "memory found without the user",
        _TALKS,
        'theirs = f"user_id = ? AND vector IS NOT NULL AND {_READ}"',
        "theirs = f\"? != '' AND vector IS NOT NULL AND {_READ}\"",
        (WORLDS, "tests/graph/stores/test_conversations.py"),
    ),
    Mutant(
        "threads listed without the user",
        _TALKS,
        'readable, values = f"FROM turns WHERE user_id = ?',
        "readable, values = f\"FROM turns WHERE ? != ''",
        (WORLDS, "tests/graph/stores/test_conversations.py"),
    ),
    Mutant(
        "a thread read without the user",
        _TALKS,
        'WHERE user_id = ? AND thread_id = ? AND {_READ} ORDER BY id"',
        "WHERE ? != '' AND thread_id = ? AND {_READ} ORDER BY id\"",
        (WORLDS, "tests/graph/stores/test_conversations.py"),
    ),
    Mutant(
        "a thread's memory by tenant and thread",
        "graph/runner.py",
        "key_of(self.context.tenant_id, self.context.user_id, self.context.thread_id)",
        "key_of(self.context.tenant_id, self.context.thread_id)",
        (WORLDS, "tests/service/http/test_doors.py"),
    ),
    Mutant(
        "a thread's memory by user and thread",
        "graph/runner.py",
        "key_of(self.context.tenant_id, self.context.user_id, self.context.thread_id)",
        "key_of(self.context.user_id, self.context.thread_id)",
    ),
    Mutant(
        "a thread is anybody's",
        "nodes/admit.py",
        '    if state.get("owner", asker.digest) != asker.digest:\n',
        "    if False:\n",
        ("tests/flow/test_i1_tenant.py",),
    ),
    Mutant(
        "memory told without asking for groups",
        "graph/memory.py",
        "    return all(not {*audience}.isdisjoint(groups) for audience in audiences)\n",
        "    return True\n",
        ("tests/flow/test_groups.py", "tests/graph/test_memory.py", _GROUPS),
    ),
    Mutant(
        "a job by its id alone",
        _JOBS,
        "    if (job.tenant_id, job.user_id) != (who.tenant_id, who.user_id):\n        return False\n",
        "    if False:\n        return False\n",
        (WORLDS, "tests/service/http/test_matrix.py"),
    ),
    Mutant(
        "a job of a group the key is not in",
        _JOBS,
        '    return not job.groups or who.role == "admin" or not who.groups.isdisjoint(job.groups)\n',
        "    return True\n",
        (_GROUPS,),
    ),
    Mutant(
        "an uploader shares with any group",
        "graph/service/http/documents.py",
        '    if shared and who.principal.role != "admin" and not shared <= who.principal.groups:\n',
        "    if False:\n",
        (_GROUPS,),
    ),
    Mutant(
        "everybody lists the documents of all groups",
        "graph/service/http/documents.py",
        'groups=None if who.may("delete") else p.groups',
        "groups=None",
        (WORLDS, _GROUPS),
    ),
    Mutant(
        "MCP lists the documents of all groups",
        "graph/service/mcp.py",
        "    own = agent.documents(tenant_id=who.tenant_id, groups=who.groups)\n",
        "    own = agent.documents(tenant_id=who.tenant_id)\n",
        (WORLDS, _GROUPS),
    ),
    Mutant(
        "MCP goes on with the first caller",
        "graph/service/http/mcp.py",
        '        caller = getattr(getattr(context.request, "state", None), "caller", None)\n',
        '        caller = getattr(getattr(context.request, "state", None), "caller", None)\n'
        '        caller = run.__dict__.setdefault("first", caller)\n',
        (WORLDS, "tests/service/http/test_doors.py"),
    ),
    Mutant(
        "a header names the tenant",
        "graph/service/http/authentication.py",
        "        key_id, principal = found\n",
        "        key_id, principal = found\n"
        '        if b"x-tenant" in headers:\n'
        '            principal = type(principal)(headers[b"x-tenant"][0].decode(), "", principal.role)\n',
        ("tests/service/http/test_matrix.py",),
    ),
    Mutant(
        "a token's groups are not asked for",
        "graph/context.py",
        "groups=valid_groups(groups))\n    context",
        "groups=valid_groups(runtime.context.groups))\n    context",
        ("tests/graph/test_context.py",),
    ),
    Mutant(
        "Studio's header names the tenant",
        "graph/service/studio.py",
        "    tenant = settings.studio_tenant\n",
        '    tenant = headers.get(b"x-tenant-id", b"").decode() or settings.studio_tenant\n',
        ("tests/service/test_studio.py",),
    ),
    Mutant(
        "the record shows a line's place",
        "graph/stores/journal.py",
        '_NOT_SHOWN = frozenset({"seq", ',
        "_NOT_SHOWN = frozenset({",
        (WORLDS, _AUDIT),
    ),
    Mutant(
        "a tenant's chain hangs on all lines",
        _PAGES,
        '_OF_ALL = _UNBOUND | {"seq", "prev", ',
        "_OF_ALL = _UNBOUND | {",
        (_AUDIT, "tests/graph/stores/test_journal.py"),
    ),
    Mutant(
        "a tenant's chain goes on from anybody's line",
        "graph/stores/embedded/journal.py",
        "entry = chained(entry, last, owns[tenant])",
        'entry = chained(entry, last, Link(made[-1]["tenant_seq"], made[-1]["tenant_hash"]) if made else owns[tenant])',
        ("tests/graph/stores/embedded/test_journal.py", "tests/service/test_audit_head.py"),
    ),
    Mutant(
        "an erasure of one user's thread takes everybody's",
        "graph/administration/erasure.py",
        '            and self.user_id in (None, run.get("user_id"))\n',
        "",
        ("tests/graph/administration/test_erasure.py",),
    ),
)


def copied(folder: Path) -> Path:
    """The checkout's own files, without what git does not keep."""
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def fails(check: str, where: Path) -> str:
    """What said so; "" when the check passes."""
    command = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", check]
    if check == WORLDS:
        command = ["-m", "evals.security.worlds", "--acts", "360", "--sizes", "5,5", "--stop"]
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(where), "PYTHONPATH": str(where), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [sys.executable, *command], cwd=where, env=environ, capture_output=True, text=True, timeout=_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return f"{check} took more than {_LIMIT_S} s"
    if done.returncode == 0:
        return ""
    lines = done.stdout.splitlines()
    if check == WORLDS:
        return next(
            (f"{WORLDS}: {line.rstrip(':')}" for line in lines if line.startswith("life ")), f"{WORLDS}: broke down"
        )
    last = next(filter(None, reversed([*lines, *done.stderr.splitlines()])), f"exit code {done.returncode}")
    return next((line.split(" ")[1] for line in lines if line.startswith(("FAILED ", "ERROR "))), f"{check}: {last}")


def mutated(mutant: Mutant, where: Path) -> None:
    file = where / mutant.file
    text = file.read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        raise SystemExit(f"{mutant.name}: {mutant.file} has its piece {text.count(mutant.old)} times, not once.")
    changed = text.replace(mutant.old, mutant.new)
    compile(changed, mutant.name, "exec")  # one that does not run would die of anything
    file.write_text(changed, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args().names
    chosen = [one for one in MUTANTS if not names or one.name in names]
    with tempfile.TemporaryDirectory() as folder:
        whole = copied(Path(folder))
        for mutant in chosen:  # before anything that takes long
            mutated(mutant, whole)
            shutil.copy2(ROOT / mutant.file, whole / mutant.file)
        for check in dict.fromkeys(check for one in chosen for check in one.checks):
            if why := fails(check, whole):
                raise SystemExit(f"it fails on the code as it is: {why}")
        alive = 0
        print("| mutant | killed by | seconds |\n|---|---|---|", flush=True)
        for mutant in chosen:
            begun = time.monotonic()
            mutated(mutant, whole)
            killer = next(filter(None, (fails(check, whole) for check in mutant.checks)), "")
            shutil.copy2(ROOT / mutant.file, whole / mutant.file)
            alive += not killer
            print(f"| {mutant.name} | {killer or '**it lives**'} | {time.monotonic() - begun:.0f} |", flush=True)
    print(f"{len(chosen)} mutants, {alive} alive")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
