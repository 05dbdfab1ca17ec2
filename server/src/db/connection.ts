import type pg from 'pg'

/** How to connect to a database, as `pg` expects it. */
export type Connection = pg.ClientConfig
