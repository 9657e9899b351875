-- Every table of the first version. Who may see which row of them is in access.sql.
-- Text that begins or is looked up by its beginning is compared byte by byte (COLLATE "C").

CREATE EXTENSION IF NOT EXISTS vector;

-- Documents ----------------------------------------------------------------------------------------------------------

-- One row a space. `version` is another one after every change; `next` is the id of the next chunk: rising, never used
-- twice, of this space alone. `chunks` and `words` (counted with repetition) are what BM25 needs of the whole.
CREATE TABLE spaces (
    tenant text PRIMARY KEY CHECK (tenant <> ''),
    number integer GENERATED ALWAYS AS IDENTITY UNIQUE,
    embeddings text NOT NULL,
    dims integer NOT NULL DEFAULT 0,
    version bigint NOT NULL DEFAULT 0,
    next bigint NOT NULL DEFAULT 0,
    chunks bigint NOT NULL DEFAULT 0,
    words bigint NOT NULL DEFAULT 0,
    indexed boolean NOT NULL DEFAULT false
);

CREATE TABLE documents (
    tenant text NOT NULL REFERENCES spaces ON DELETE CASCADE,
    doc_id text COLLATE "C" NOT NULL,
    record text NOT NULL,
    text text NOT NULL,
    sha256 text NOT NULL,
    PRIMARY KEY (tenant, doc_id)
);
CREATE INDEX documents_sha256 ON documents (tenant, sha256);

-- `words` is what the word index read, `stems` what it made of it: in their order, each with a blank on both sides.
CREATE TABLE chunks (
    tenant text NOT NULL,
    id bigint NOT NULL,
    chunk_id text NOT NULL,
    doc_id text COLLATE "C" NOT NULL,
    start integer NOT NULL,
    "end" integer NOT NULL,
    page integer,
    sheet text,
    section text NOT NULL,
    words text NOT NULL,
    stems text NOT NULL,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, chunk_id),
    FOREIGN KEY (tenant, doc_id) REFERENCES documents ON DELETE CASCADE
);
CREATE INDEX chunks_doc ON chunks (tenant, doc_id);

-- A partition a space, so that what one tenant has is neither in the way of another's search nor in its index.
-- Kept in the row up to a page: a search that compares all of them reads them one after the other.
CREATE TABLE vectors (
    tenant text NOT NULL,
    id bigint NOT NULL,
    embedding vector NOT NULL,
    PRIMARY KEY (tenant, id)
) PARTITION BY LIST (tenant);

-- Which chunks hold a stem, in parts of 2,048 ids: two bytes each for the place in the part, how often, and how many
-- words the chunk has. Appended to with every document.
CREATE TABLE postings (
    tenant text NOT NULL REFERENCES spaces ON DELETE CASCADE,
    stem text COLLATE "C" NOT NULL,
    part integer NOT NULL,
    held bytea NOT NULL,
    PRIMARY KEY (tenant, stem, part)
);

CREATE TABLE annexes (
    tenant text NOT NULL,
    doc_id text COLLATE "C" NOT NULL,
    sha256 text NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (tenant, doc_id),
    FOREIGN KEY (tenant, doc_id) REFERENCES documents ON DELETE CASCADE
);

CREATE TABLE judged (
    tenant text NOT NULL,
    chunk bigint NOT NULL,
    by text NOT NULL,
    found text NOT NULL,
    PRIMARY KEY (tenant, chunk),
    FOREIGN KEY (tenant, chunk) REFERENCES chunks (tenant, id) ON DELETE CASCADE
);

-- What the role of the workers, which owns nothing, has its owner do. Each works for the tenant that is set.

CREATE FUNCTION make_space(whose text, model text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = cordon, public, pg_temp AS $$
DECLARE made integer;
BEGIN
    IF whose IS DISTINCT FROM current_setting('cordon.tenant', true) THEN
        RAISE insufficient_privilege;
    END IF;
    INSERT INTO spaces (tenant, embeddings) VALUES (whose, model) ON CONFLICT DO NOTHING RETURNING number INTO made;
    IF made IS NOT NULL THEN  -- attached, not made as a partition: that would wait for everybody
        EXECUTE format('CREATE TABLE vectors_%s (LIKE vectors INCLUDING ALL) WITH (toast_tuple_target = 8160)', made);
        EXECUTE format('ALTER TABLE vectors ATTACH PARTITION vectors_%s FOR VALUES IN (%L)', made, whose);
    END IF;
END $$;

CREATE FUNCTION drop_space(whose text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = cordon, public, pg_temp AS $$
DECLARE gone integer;
BEGIN
    IF whose IS DISTINCT FROM current_setting('cordon.tenant', true) THEN
        RAISE insufficient_privilege;
    END IF;
    DELETE FROM spaces WHERE tenant = whose RETURNING number INTO gone;
    IF gone IS NOT NULL THEN
        EXECUTE format('DROP TABLE vectors_%s', gone);
    END IF;
END $$;

CREATE FUNCTION index_vectors(whose text, m integer, ef_construction integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = cordon, public, pg_temp AS $$
DECLARE space spaces;
BEGIN
    IF whose IS DISTINCT FROM current_setting('cordon.tenant', true) THEN
        RAISE insufficient_privilege;
    END IF;
    SELECT * INTO space FROM spaces WHERE tenant = whose;
    EXECUTE format(
        'CREATE INDEX IF NOT EXISTS vectors_%s_near ON vectors_%s USING hnsw ((embedding::halfvec(%s)) halfvec_ip_ops)'
        ' WITH (m = %s, ef_construction = %s)', space.number, space.number, space.dims, m, ef_construction);
    EXECUTE format('ANALYZE vectors_%s', space.number);  -- else the planner takes it for small, and leaves the index
    UPDATE spaces SET indexed = true WHERE tenant = whose;
END $$;

-- The record ---------------------------------------------------------------------------------------------------------

CREATE TABLE journal (
    seq bigint PRIMARY KEY,
    tenant text COLLATE "C",
    run_id text COLLATE "C",
    id text,
    line text NOT NULL
);
CREATE INDEX journal_tenant ON journal (tenant, seq);
CREATE INDEX journal_run ON journal (run_id);
CREATE INDEX journal_id ON journal (id);

-- Place and hash of the last line, locked by who writes the next one.
CREATE TABLE journal_head (one boolean PRIMARY KEY DEFAULT true CHECK (one), seq bigint NOT NULL, hash text NOT NULL);
INSERT INTO journal_head (seq, hash) VALUES (0, repeat('0', 64));

CREATE TABLE samples (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, list text NOT NULL, row text NOT NULL);

-- Conversations, keys, lists, uploads --------------------------------------------------------------------------------

CREATE TABLE turns (
    tenant text NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    user_id text NOT NULL,
    thread_id text NOT NULL,
    run_id text NOT NULL,
    timestamp text NOT NULL,
    turn text NOT NULL,
    gist text NOT NULL,
    embedding vector,
    PRIMARY KEY (tenant, run_id)
);
CREATE INDEX turns_thread ON turns (tenant, user_id, thread_id, id);

CREATE TABLE keys (
    id text PRIMARY KEY,
    hash bytea NOT NULL,
    tenant text NOT NULL,
    user_id text NOT NULL,
    role text NOT NULL,
    created text NOT NULL,
    revoked text NOT NULL,
    expires text NOT NULL
);
CREATE TABLE pepper (one boolean PRIMARY KEY DEFAULT true CHECK (one), value bytea NOT NULL);

CREATE TABLE lists (tenant text PRIMARY KEY, stamp text NOT NULL, value text NOT NULL);

-- `job` is NULL until it is saved. `session`: whose it is, of those that live (the advisory lock of that number).
CREATE SEQUENCE job_order;
CREATE TABLE jobs (
    job_id text PRIMARY KEY,
    tenant text,
    user_id text,
    job text,
    session integer NOT NULL,
    saved bigint NOT NULL DEFAULT nextval('job_order')
);
CREATE TABLE job_files (
    job_id text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    number integer NOT NULL,
    closed boolean NOT NULL DEFAULT false,
    PRIMARY KEY (job_id, number)
);
CREATE TABLE job_parts (
    job_id text NOT NULL,
    number integer NOT NULL,
    part integer NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (job_id, number, part),
    FOREIGN KEY (job_id, number) REFERENCES job_files ON DELETE CASCADE
);
ALTER TABLE job_parts ALTER COLUMN data SET STORAGE EXTERNAL;

-- Limits: of nobody's documents, and nothing that must survive a crash. ------------------------------------------------

CREATE SEQUENCE sessions AS integer CYCLE;
CREATE UNLOGGED TABLE buckets (
    kind text,
    name text,
    level double precision NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (kind, name)
);
CREATE UNLOGGED TABLE places (
    kind text,
    name text,
    session integer,
    taken integer NOT NULL,
    PRIMARY KEY (kind, name, session)
);

-- Whether the process of that number lives: it holds the lock as long as it is connected.
CREATE FUNCTION lives(number integer) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM pg_locks
        WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = 1668248164 AND objid = number
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
$$;

-- A token and a place of each, or the first that has none: its kind, and the seconds until there is one (0: too many at
-- the same time).
CREATE FUNCTION enter(kinds text[], names text[], per_minute integer[], at_once integer[], me integer)
RETURNS TABLE (kind text, wait_s double precision) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE n integer; stands double precision; now timestamptz;
BEGIN
    FOR n IN 1 .. cardinality(kinds) LOOP
        INSERT INTO buckets VALUES (kinds[n], names[n], per_minute[n], clock_timestamp()) ON CONFLICT DO NOTHING;
        PERFORM 1 FROM buckets b WHERE b.kind = kinds[n] AND b.name = names[n] FOR UPDATE;
        IF (SELECT sum(taken) FROM places p WHERE p.kind = kinds[n] AND p.name = names[n]) >= at_once[n] THEN
            DELETE FROM places p WHERE p.kind = kinds[n] AND p.name = names[n] AND NOT lives(p.session);
            IF (SELECT sum(taken) FROM places p WHERE p.kind = kinds[n] AND p.name = names[n]) >= at_once[n] THEN
                RETURN QUERY SELECT kinds[n], 0::double precision;
                RETURN;
            END IF;
        END IF;
    END LOOP;
    FOR n IN 1 .. cardinality(kinds) LOOP
        now := clock_timestamp();
        SELECT least(per_minute[n], b.level + extract(epoch FROM now - b.at) * per_minute[n] / 60) INTO stands
            FROM buckets b WHERE b.kind = kinds[n] AND b.name = names[n];
        UPDATE buckets b SET level = CASE WHEN stands >= 1 THEN stands - 1 ELSE stands END, at = now
            WHERE b.kind = kinds[n] AND b.name = names[n];
        IF stands < 1 THEN
            RETURN QUERY SELECT kinds[n], (1 - stands) * 60 / per_minute[n];
            RETURN;
        END IF;
    END LOOP;
    FOR n IN 1 .. cardinality(kinds) LOOP
        INSERT INTO places VALUES (kinds[n], names[n], me, 1)
            ON CONFLICT (kind, name, session) DO UPDATE SET taken = places.taken + 1;
    END LOOP;
END $$;

-- Erasure ------------------------------------------------------------------------------------------------------------

-- The tables, but for the journal, in which one of these names is kept: the one question that is asked of all tenants'
-- rows, and the answer holds none of them.
CREATE FUNCTION remains(wanted text[]) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = cordon, public, pg_temp AS $$
DECLARE at record; found boolean; shown text;
BEGIN
    FOR at IN
        SELECT c.relname AS of, a.attname AS column, t.typname AS type
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
        WHERE c.relnamespace = 'cordon'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
            AND c.relname NOT IN ('journal', 'journal_head', 'migrations') AND t.typname IN ('text', 'bytea', 'jsonb')
        ORDER BY 1, 2
    LOOP
        shown := CASE at.type WHEN 'bytea' THEN format('encode(%I, ''escape'')', at.column)
                 ELSE format('%I::text', at.column) END;
        EXECUTE format(
            'SELECT EXISTS (SELECT 1 FROM %I WHERE %s ~ ''[0-9a-f-]{32,}'' AND EXISTS ('
            'SELECT 1 FROM unnest($1) AS name WHERE position(name IN replace(%s, ''-'', '''')) > 0))',
            at.of, shown, shown) INTO found USING wanted;
        IF found THEN
            RETURN NEXT format('%s.%s', at.of, at.column);
        END IF;
    END LOOP;
END $$;
