"""Acts of the European Union: from the file to units, references and the graph that retrieval walks.

    loader      PDF, HTML or text → lines → units → a Document whose sections are paths ("Chapter II, Article 6(1)(f)")
    reading     the units of such a document, with their places
    references  what the text of a unit refers to
    links       the edges between units
    ranking     PageRank, plain and personalised
    store       all of it beside the index of a space, with the document it belongs to
    expansion   from the passages found to the conditions, exceptions, definitions and deadlines they depend on

The parser knows the drafting rules of the Union (Joint Practical Guide, Interinstitutional style guide), no act.
"""
