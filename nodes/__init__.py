"""One stage per file: a plain function, state in, only what it changes out. A router stands beside its stage."""
