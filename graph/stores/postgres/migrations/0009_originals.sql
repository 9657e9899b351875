-- The files of documents as they came. Not compressed again: most of them are.
CREATE TABLE originals (
    tenant text NOT NULL,
    doc_id text COLLATE "C" NOT NULL,
    file bytea NOT NULL,
    PRIMARY KEY (tenant, doc_id),
    FOREIGN KEY (tenant, doc_id) REFERENCES documents ON DELETE CASCADE
);
ALTER TABLE originals ALTER COLUMN file SET STORAGE EXTERNAL;
