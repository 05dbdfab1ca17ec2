/**
 * A migration changed the columns that a prepared statement returns, for example of `select *`. PostgreSQL rejects the
 * statement before it does anything, on this connection every time until it is prepared again.
 */
export const isStalePlan = (error: unknown): boolean => {
  const { code, message = '' } = (error ?? {}) as { code?: string; message?: string }
  return code === '0A000' && message.includes('cached plan')
}

/** Thrown instead. The connection was closed with its prepared statements. Counts as a lost connection. */
export class StalePlan extends Error {
  constructor() {
    super('Connection terminated: a migration changed what a prepared statement returns')
  }
}
