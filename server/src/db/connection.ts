import type pg from 'pg'

/** How to reach a database: what `pg` takes. */
export type Connection = pg.ClientConfig
