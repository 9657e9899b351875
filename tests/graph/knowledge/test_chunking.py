from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.knowledge.chunking import MOST_CHARS, Chunk, chunk
from graph.knowledge.document import Document
from graph.knowledge.loaders import load
from graph.knowledge.loaders.build import Builder


def words(text: str) -> int:
    return len(text.split())


def quarters(text: str) -> int:
    return (len(text) + 3) // 4


def markdown(text: str) -> Document:
    return load(text.encode(), "test.md")


def shown(document: Document, chunks: list[Chunk]) -> list[str]:
    return [document.text[part.start : part.end] for part in chunks]


def sentences(count: int, length: int = 10, name: str = "w") -> str:
    return " ".join(" ".join([f"S{i}", *[name] * (length - 2), "end."]) for i in range(count))


def test_a_short_document_is_one_chunk() -> None:
    document = markdown("# Title\n\nOne paragraph.\n\nAnother.")
    [only] = chunk(document, words)
    assert (only.start, only.end, only.section) == (0, len(document.text), "Title")
    assert only.tokens == words(document.text)


def test_whole_blocks_are_kept_together() -> None:
    document = markdown("\n\n".join(sentences(4) for _ in range(5)))
    assert [words(text) for text in shown(document, chunk(document, words, size=100, overlap=0))] == [80, 80, 40]


def test_a_long_block_is_cut_between_sentences_and_repeats_whole_ones() -> None:
    document = markdown(sentences(30))
    parts = shown(document, chunk(document, words, size=100, overlap=25))
    assert all(text.startswith("S") and text.endswith("end.") for text in parts)
    assert parts[0].startswith("S0 ") and parts[1].startswith("S8 ") and words(parts[1]) == 100


def test_a_long_sentence_is_cut_between_words() -> None:
    document = markdown("word " * 250)
    parts = chunk(document, words, size=100, overlap=10)
    assert len(parts) <= 4 and all(part.tokens <= 100 for part in parts)
    assert sum(part.tokens for part in parts) == 250


def test_a_word_without_spaces_is_cut_where_it_must_be() -> None:
    document = markdown("x" * 5000)
    parts = chunk(document, quarters, size=100, overlap=0)
    assert all(part.tokens <= 100 for part in parts) and "".join(shown(document, parts)) == document.text


def test_a_heading_goes_with_what_follows() -> None:
    document = markdown(f"{sentences(9)}\n\n### Next\n\n{sentences(9)}")
    first, second = shown(document, chunk(document, words, size=100, overlap=20))
    assert "Next" not in first and second.startswith("# Next\n\nS0")


def test_a_heading_goes_with_the_first_sentences_of_a_long_block() -> None:
    document = markdown(f"# Only\n\n{sentences(10)}")
    first, second = shown(document, chunk(document, words, size=100, overlap=0))
    assert first.startswith("# Only\n\nS0") and second == "S9 w w w w w w w w end."


@pytest.mark.parametrize(("before", "expected"), [(3, 1), (4, 2)])
def test_a_new_section_starts_a_chunk_once_the_current_one_is_two_fifths_full(before: int, expected: int) -> None:
    document = markdown(f"{sentences(before)}\n\n## New\n\n{sentences(2)}")
    assert len(chunk(document, words, size=100, overlap=20)) == expected


def test_nothing_is_repeated_over_a_section_or_page() -> None:
    out = Builder(max_text=10**6)
    for page in (1, 2):
        out.page = page
        out.paragraph(sentences(8, name=f"p{page}"))
    document = out.finish("x.pdf", "application/pdf")
    first, second = chunk(document, words, size=100, overlap=50)
    assert (first.page, second.page) == (1, 2)
    assert first.end < second.start


def test_of_a_row_no_part_is_repeated() -> None:
    out = Builder(max_text=10**6)
    for number in range(12):
        out.row(f"Risk: {number}; Score: 25; Remark: {sentences(2)}")
    document = out.finish("x.csv", "text/csv")
    parts = shown(document, chunk(document, words, size=100, overlap=20))
    assert len(parts) > 2 and all(line.startswith("Risk: ") for text in parts for line in text.split("\n"))


def test_a_chunk_does_not_cross_sheets() -> None:
    out = Builder(max_text=10**6)
    for sheet in ("One", "Two"):
        out.sheet = sheet
        out.leave_sections()
        out.heading(sheet, 1)
        out.row("Name: a", 2)
    document = out.finish("x.xlsx", "x")
    assert [part.sheet for part in chunk(document, words)] == ["One", "Two"]


def test_the_section_is_that_of_the_first_text_and_not_of_its_heading() -> None:
    document = markdown("# Safety\n\n## Cold storage\n\nWear gloves.")
    assert [part.section for part in chunk(document, words)] == ["Safety > Cold storage"]


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 10), (10, -1)])
def test_sizes_that_make_no_sense_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="expected size"):
        chunk(markdown("a"), words, size=size, overlap=overlap)


def test_counting_is_rare() -> None:
    document = markdown("\n\n".join(sentences(5) for _ in range(200)))
    calls = 0

    def count(text: str) -> int:
        nonlocal calls
        calls += 1
        return words(text)

    parts = chunk(document, count)
    assert calls <= len(document.blocks) + 25 * len(parts)


def test_a_word_without_an_end_is_cut_though_the_model_takes_it_for_one_token() -> None:
    found = chunk(markdown("a" * 100_000), words, size=50, overlap=0)
    assert max(piece.end - piece.start for piece in found) <= 50 * (MOST_CHARS + 1)
    assert sum(piece.end - piece.start for piece in found) == 100_000


def test_tokens_are_counted_in_portions_and_come_to_the_same() -> None:
    from graph.knowledge import embeddings

    text = " ".join(f"Valve {n} of the ibis pump is opened by turn {n * 7 % 1009}." for n in range(2_000))
    model = embeddings.shared()
    portions = list(embeddings._portions(text + "a" * 50_000))
    assert "".join(portions) == text + "a" * 50_000
    assert len(portions) > 5 and max(map(len, portions)) <= embeddings._PORTION
    model.warm()
    assert model.count(text) == len(model._tokenizer.encode(text, add_special_tokens=False).ids)


KINDS = st.sampled_from(["heading", "paragraph", "list", "row", "code"])
WORDS = st.lists(
    st.sampled_from(["a", "Dr.", "end.", "漢字。", "x" * 40, "b\nc", "Is?", "12.5"]), min_size=1, max_size=60
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    out = Builder(max_text=10**6)
    for kind, level, some, page in draw(
        st.lists(st.tuples(KINDS, st.integers(1, 4), WORDS, st.sampled_from([None, 1, 2])), min_size=1, max_size=12)
    ):
        out.page = page
        text = " ".join(some)
        if kind == "heading":
            out.heading(text, level)
        elif kind == "list":
            out.items((0, f"- {item}") for item in some)
        else:
            getattr(out, kind)(text)
    return out.finish("x.md", "text/markdown")


@given(documents(), st.sampled_from([words, quarters]), st.integers(5, 60), st.floats(0, 0.9))
def test_chunks_hold_all_text_within_their_size(
    document: Document, count: Callable[[str], int], size: int, part: float
) -> None:
    overlap = min(size - 1, int(size * part))
    found = chunk(document, count, size=size, overlap=overlap)
    covered = 0
    for before, piece in zip([None, *found], found, strict=False):
        text = document.text[piece.start : piece.end]
        assert piece.tokens == max(count(text), len(text) // MOST_CHARS) <= size
        assert text == text.strip()
        assert not document.text[covered : piece.start].strip(), "text between chunks"
        assert piece.end > covered, "a chunk that says nothing new"
        if before is not None:
            assert piece.start > before.start
            assert count(document.text[piece.start : max(piece.start, before.end)]) <= overlap
        covered = piece.end
    assert not document.text[covered:].strip()
    assert found == chunk(document, count, size=size, overlap=overlap)


def test_a_list_is_not_cut_from_the_line_that_introduces_it() -> None:
    listed = "\n".join(f"- item {n} with some words" for n in range(10))
    document = markdown(f"{sentences(9)}\n\nYou will need:\n\n{listed}")
    first, second = shown(document, chunk(document, words, size=100, overlap=0))
    assert first.endswith("end.") and second.startswith("You will need:\n\n- item 0")


def test_a_long_list_is_cut_between_items() -> None:
    document = markdown("\n".join(f"- Item {n}. It has two sentences." for n in range(60)))
    parts = shown(document, chunk(document, words, size=100, overlap=0))
    assert len(parts) > 3 and all(part.startswith("- Item") and part.endswith("sentences.") for part in parts)


def test_a_fence_stays_with_a_line_of_its_code() -> None:
    document = markdown("```\n" + "\n".join(f"make target number {n}" for n in range(60)) + "\n```")
    for part in shown(document, chunk(document, words, size=50, overlap=0)):
        assert part.strip("`\n") and not part.endswith("\n```\n") and part != "```"


@pytest.mark.parametrize("overlap", [1, 2, 5])
def test_a_chunk_does_not_begin_inside_the_code_that_it_repeats(overlap: int) -> None:
    document = markdown(f"{sentences(3)}\n\n```\nlist all\n```\n\n{sentences(3)}")
    text = shown(document, chunk(document, words, size=36, overlap=overlap))
    assert len(text) == 2
    assert text[1].startswith("```\nlist all\n```\n\nS0" if overlap == 5 else "S0")
