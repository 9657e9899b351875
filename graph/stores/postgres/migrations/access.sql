-- Who sees which rows: run anew by every `cordon migrate`, after the numbered files and LangGraph's own tables.
--
-- A transaction of a worker says for whom it works (SET LOCAL cordon.tenant), and of what alone of theirs
-- (cordon.name: a thread's state, an upload's bytes). Without it no row is seen. What must be asked before a tenant is
-- known, or of all of them (the chain of the journal, a key or a session by its id, whose spaces there are, the line of jobs), is
-- asked as '*', a name that no tenant can have; documents, turns, lists, threads and files are never seen so.
-- The owner sees all rows: the functions that it lends to the workers check the tenant themselves.

DO $$
DECLARE of text; tenant text := '(SELECT current_setting(''cordon.tenant'', true))';
    name text := '(SELECT current_setting(''cordon.name'', true))';
    rule text;
BEGIN
    FOR of, rule IN VALUES
        ('documents', 'tenant = ' || tenant), ('chunks', 'tenant = ' || tenant), ('vectors', 'tenant = ' || tenant),
        ('postings', 'tenant = ' || tenant), ('annexes', 'tenant = ' || tenant), ('judged', 'tenant = ' || tenant),
        ('originals', 'tenant = ' || tenant),
        ('turns', 'tenant = ' || tenant), ('lists', 'tenant = ' || tenant),
        ('spaces', 'tenant = ' || tenant || ' OR ' || tenant || ' = ''*'''),
        ('journal', 'tenant = ' || tenant || ' OR ' || tenant || ' = ''*'''),
        ('keys', 'tenant = ' || tenant || ' OR ' || tenant || ' = ''*'''),
        ('sessions_of_people', 'tenant = ' || tenant || ' OR ' || tenant || ' = ''*'''),
        ('jobs', 'tenant = ' || tenant || ' OR ' || tenant || ' = ''*'''),
        ('samples', tenant || ' = ''*'''), ('pepper', tenant || ' = ''*'''),
        ('buckets', tenant || ' = ''*'''), ('places', tenant || ' = ''*'''),
        ('job_files', 'job_id = ' || name), ('job_parts', 'job_id = ' || name),
        ('checkpoints', 'thread_id = ' || name), ('checkpoint_blobs', 'thread_id = ' || name),
        ('checkpoint_writes', 'thread_id = ' || name)
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', of);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', of);
        EXECUTE format('DROP POLICY IF EXISTS one ON %I', of);
        EXECUTE format('CREATE POLICY one ON %I USING (%s) WITH CHECK (%s)', of, rule, rule);
        EXECUTE format('DROP POLICY IF EXISTS owner ON %I', of);
        EXECUTE format('CREATE POLICY owner ON %I TO CURRENT_USER USING (true) WITH CHECK (true)', of);
    END LOOP;
END $$;

-- A tenant may see that spaces of its groups are there, and what lies in them only under their own names.
DROP POLICY IF EXISTS audiences ON spaces;
CREATE POLICY audiences ON spaces FOR SELECT
    USING (split_part(tenant, '/', 1) = (SELECT current_setting('cordon.tenant', true)));

REVOKE ALL ON ALL TABLES IN SCHEMA cordon FROM PUBLIC, {worker};
REVOKE ALL ON FUNCTION make_space, drop_space, index_vectors, lives, enter, remains FROM PUBLIC, {worker};
GRANT USAGE ON SCHEMA cordon TO {worker};
GRANT SELECT ON migrations, checkpoint_migrations, spaces TO {worker};
GRANT UPDATE (dims, version, next, chunks, words) ON spaces TO {worker};
GRANT SELECT, INSERT, UPDATE, DELETE ON documents, chunks, vectors, postings, annexes, judged, originals, turns, lists,
    keys, sessions_of_people, samples, jobs, job_files, job_parts, buckets, places, checkpoints, checkpoint_blobs, checkpoint_writes TO {worker};
GRANT SELECT, INSERT ON journal, pepper TO {worker};
GRANT UPDATE (line) ON journal TO {worker};  -- an erasure takes out what is personal; nothing takes out a line
GRANT SELECT, UPDATE ON journal_head TO {worker};
GRANT USAGE ON SEQUENCE sessions, job_order TO {worker};
GRANT EXECUTE ON FUNCTION make_space, drop_space, index_vectors, lives, enter, remains TO {worker};
