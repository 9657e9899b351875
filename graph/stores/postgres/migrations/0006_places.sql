-- Pages and rows of a chunk's parts (graph/policy/evidence/places.py); '' for chunks of earlier versions.
ALTER TABLE chunks ADD COLUMN places text NOT NULL DEFAULT '';
