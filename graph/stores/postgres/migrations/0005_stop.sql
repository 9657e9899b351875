-- Whoever reads the job is to stop before its next file: said at any worker.
ALTER TABLE jobs ADD COLUMN stopped boolean NOT NULL DEFAULT false;
