"""What every store of uploads promises."""

from dataclasses import replace
from pathlib import Path

import pytest

from graph.stores import Stores
from graph.stores.uploads import File, Job, Uploads


@pytest.fixture
def kept(stores: Stores) -> Uploads:
    return stores.uploads


def job(kept: Uploads, name: str, tenant: str = "T1", user: str = "ann", *texts: bytes) -> Job:
    kept.begin(name)
    for number, text in enumerate(texts):
        with kept.file(name, number) as out:
            out.write(text)
    made = Job(name, tenant, user, "queued", "now", [File(f"{n}.txt", len(text)) for n, text in enumerate(texts)])
    kept.save(made)
    return made


def content(kept: Uploads, name: str, number: int) -> bytes:
    with kept.local(name, number) as path:
        return Path(path).read_bytes()


def test_a_job_is_there_again_with_its_files(kept: Uploads) -> None:
    made = job(kept, "a", "T1", "ann", b"one", b"two")
    made.files[0] = replace(made.files[0], status="indexed", flags=["x"], given="n", tries=1)
    kept.save(made)
    assert list(kept.jobs()) == [made] and [content(kept, "a", n) for n in (0, 1)] == [b"one", b"two"]


def test_jobs_come_in_the_order_in_which_they_were_saved(kept: Uploads) -> None:
    made = [job(kept, name) for name in "bca"]
    assert list(kept.jobs()) == made
    kept.save(made[0])
    assert [one.job_id for one in kept.jobs()] == ["c", "a", "b"]


def test_ones_own_jobs_are_not_elsewhere_and_were_not_left(kept: Uploads) -> None:
    job(kept, "a")
    assert not kept.elsewhere("T1", "ann") and not kept.left()


def test_what_was_begun_and_never_saved_is_gone(kept: Uploads) -> None:
    kept.begin("half")
    with kept.file("half", 0) as out:
        out.write(b"one")
    assert list(kept.jobs()) == []
    with pytest.raises(OSError):
        content(kept, "half", 0)


def test_a_file_is_written_once(kept: Uploads) -> None:
    job(kept, "a", "T1", "ann", b"one")
    with pytest.raises(OSError):
        kept.file("a", 0)
    assert content(kept, "a", 0) == b"one"


def test_a_settled_job_has_no_files_and_a_removed_one_is_gone(kept: Uploads) -> None:
    made = job(kept, "a", "T1", "ann", b"one")
    for _ in range(2):
        kept.remove_files(made)
    with pytest.raises(OSError):
        content(kept, "a", 0)
    assert list(kept.jobs()) == [made]
    for _ in range(2):
        kept.remove("a")
    assert list(kept.jobs()) == []


def test_a_tenants_or_users_jobs_are_forgotten_with_those_of_nobody(kept: Uploads) -> None:
    assert kept.forget("T1") == 0
    for name, tenant, user in (("a", "T1", "ann"), ("b", "T1", "bob"), ("c", "T2", "bob")):
        job(kept, name, tenant, user)
    kept.begin("half")
    assert kept.forget("T1", "bob") == 2 and kept.forget("T1") == 1
    assert [one.job_id for one in kept.jobs()] == ["c"]
