"""The rows that count, as data: for programs that would have to read them out of quotes."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from graph.policy.question.answer_type import all_of
from graph.policy.text.quantities import cells


class Row(TypedDict):
    """`cells` are column heading and text; "" is the heading of a row's name that stands without one."""

    doc_id: str
    filename: str
    citation: int
    cells: dict[str, str]


def from_citations(question: str, citations: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Those that an answer to a question about all of something cites, in their order."""
    return [] if all_of(question) in (None, "summary") else rows(citations)


def rows(citations: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Those that stand in the quotes."""
    return [
        {"doc_id": citation["doc_id"], "filename": citation["filename"], "citation": citation["n"], "cells": row}
        for citation in citations
        for line in citation["quote"].split("\n")
        if len(row := dict(cells(line))) > 1
    ]
