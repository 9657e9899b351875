-- The title that a user gave the turn's thread; '' for that of its first question.
ALTER TABLE turns ADD COLUMN name text NOT NULL DEFAULT '';
