-- People who signed in (graph/stores/sessions.py). `sessions` is the sequence that numbers processes.
CREATE TABLE sessions_of_people (
    id text PRIMARY KEY,
    tenant text NOT NULL,
    user_id text NOT NULL,
    role text NOT NULL,
    name text NOT NULL,
    created double precision NOT NULL,
    seen double precision NOT NULL,
    expires double precision NOT NULL,
    ended boolean NOT NULL,
    groups text NOT NULL,
    hash bytea NOT NULL,
    hint bytea NOT NULL
);
