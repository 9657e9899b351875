-- Groups inside a tenant. A space that some groups share is a space of its own: its name, in `tenant`, is the tenant's,
-- a slash and the groups. Turns say of which groups' documents they may tell.

CREATE INDEX spaces_of ON spaces (split_part(tenant, '/', 1));
ALTER TABLE keys ADD COLUMN groups text NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN audiences jsonb NOT NULL DEFAULT '[]';
