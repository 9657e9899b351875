"""The form of a text: canonical form, sentences, structure, words, escapes, and how to show it without live markup."""
