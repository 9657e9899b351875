"""Text whatever it says: its canonical form, sentences, structure, words, and how nothing in it is rendered live."""
