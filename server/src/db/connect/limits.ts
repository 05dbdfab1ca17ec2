/** The time limits of a kind of work. PostgreSQL enforces them, so they also end the work of a process that is frozen. */
export interface Limits {
  statementMs: number
  /** Zero if only `statementMs` limits the wait for a lock. */
  lockMs: number
}

/** When a connection is closed although its server says that it works on the statement. PostgreSQL's limit is first. */
export const hardLimitMs = ({ statementMs }: Limits): number => statementMs * 1.2

/** Statements within one workspace: a request waits for them. */
export const requestLimits: Limits = { statementMs: 30_000, lockMs: 0 }

/**
 * Statements that see all workspaces: the delivery engine, the other loops, and commands. Holding a million deliveries
 * or deleting expired rows can take minutes.
 */
export const backgroundLimits: Limits = { statementMs: 600_000, lockMs: 30_000 }

/**
 * A process that is frozen, or whose machine is gone, may hold locks in an open transaction. The others wait for them at
 * most this long. No transaction waits for anything but the database, so 5 seconds without a statement are a fault.
 */
const idleInTransactionMs = 5_000

/** PostgreSQL closes the connection of a client that has not taken data for this long, because it may hold locks too. */
const unreadMs = 15_000

/** Settings of PostgreSQL by name. */
export type Settings = Readonly<Record<string, string | number>>

const settingsOfAll: Settings = {
  idle_in_transaction_session_timeout: idleInTransactionMs,
  // Plan types that are turned off (`planner-settings.ts`) look expensive to PostgreSQL, up to version 17. It would compile
  // such a plan at every execution, which takes much longer than the statement.
  jit: 'off',
}

export const limitSettings = ({ statementMs, lockMs }: Limits): Settings => ({
  ...settingsOfAll,
  statement_timeout: statementMs,
  lock_timeout: lockMs,
  tcp_user_timeout: unreadMs,
})

/** The text that applies settings to a connection until it is closed. */
export const setText = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `set ${name} = '${value}'`)
    .join('; ')

/**
 * A step of a migration may take hours: building an index, or checking a constraint. But between two statements a process
 * that migrates is never idle for long. So a frozen process loses its locks on tables as soon as every other process,
 * and the right to migrate soon after.
 */
export const migrationSettings = setText({
  ...settingsOfAll,
  statement_timeout: 0,
  lock_timeout: 0,
  idle_session_timeout: 20_000,
})

/** A server that is the only one gets more time. With several, the next one is tried. */
export const connectMs = { only: 10_000, oneOfSeveral: 4_000 }

/** How long a statement waits for a connection of its pool, and before that for the share of its workspace. */
export const waitForConnectionMs = 10_000

/** An idle connection is checked after this time; after 10 checks without response, a second apart, it is closed. */
export const keepAliveAfterMs = 5_000

/** Connections are replaced after this time, so that they spread over the servers behind a changed DNS name or proxy. */
export const lifetimeSeconds = 1_800
