"""Rules: pure functions of text and principal, which know no model, index or stage.

text        a text whatever it says: canonical form, sentences, structure, words, links made dead
question    what is wanted, named and repeated, and what stays of a question with an attack in it
evidence    who may read a passage, what is left out of it, for whom it is meant
answer      schemas, layout and the canonical refusals
threats     what attacks look like; rubric turns findings into an action
pii         what is personal, and how it is masked
grounding   whether evidence supports a claim
repair      malformed JSON, mended
filters     each guard alone, for `cordon scan|mask|check|repair`
"""
