import { randomBytes } from 'node:crypto'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { sha256 } from '../../../lib/hash.ts'
import { newUuid } from '../../../lib/ids.ts'
import { refuse } from '../../../lib/refuse.ts'
import {
  confirmSession,
  deleteOldSessions,
  deleteSession,
  deleteSessions,
  hasSession,
  insertSession,
  type OpenSession,
  sessionByDigest,
  touchSession,
} from './sessions.sql.ts'

export { listSessions } from './sessions.sql.ts'

const hour = 3_600_000
/** Maximum age of a session, even if it is in use. */
const maxAgeMs = 30 * 24 * hour
/** Idle timeouts, shorter for operators and admins. */
const idleMs = 7 * 24 * hour
const privilegedIdleMs = 12 * hour
/** How long a confirmation by password, code or passkey is valid. */
const confirmedMs = 10 * 60_000

export type Session = OpenSession & { confirmedUntil: Date }

export interface Browser {
  address: string
  userAgent: string | null
}

/** Starts a session. Only the digest of the token is stored; the token itself goes to the browser. */
export async function openSession(db: Db, clock: Clock, personId: string, browser: Browser): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const at = clock.now()
  await insertSession(db, {
    id: newUuid(at.getTime()),
    person_id: personId,
    token_digest: sha256(token),
    created_at: at,
    last_seen_at: at,
    confirmed_at: at,
    address: browser.address,
    user_agent: browser.userAgent?.slice(0, 300) ?? null,
  })
  return token
}

/** The session with this token, unless it has ended. `isActive`: the request counts as activity of the person. */
export async function sessionOf(db: Db, clock: Clock, token: string, isActive: boolean): Promise<Session | null> {
  const row = await sessionByDigest(db, sha256(token))
  if (!row || isOver(row, clock.now())) return null
  const isStale = clock.now().getTime() - row.lastSeenAt.getTime() > 60_000
  if (isActive && isStale) await touchSession(db, row.id, clock.now())
  return { ...row, confirmedUntil: new Date(row.confirmedAt.getTime() + confirmedMs) }
}

function isOver({ createdAt, lastSeenAt, privileged }: OpenSession, now: Date): boolean {
  const idle = privileged ? privilegedIdleMs : idleMs
  return now.getTime() > Math.min(createdAt.getTime() + maxAgeMs, lastSeenAt.getTime() + idle)
}

export async function confirm(db: Db, clock: Clock, sessionId: string): Promise<Date> {
  await confirmSession(db, sessionId, clock.now())
  return new Date(clock.now().getTime() + confirmedMs)
}

/** Fails if the session has ended since the request began. */
export async function requireSession(db: Db, personId: string, sessionId: string): Promise<void> {
  if (!(await hasSession(db, personId, sessionId))) refuse('not_signed_in')
}

export async function endSession(db: Db, personId: string, sessionId: string): Promise<void> {
  if ((await deleteSession(db, personId, sessionId)) === 0) refuse('not_found')
  endStreams(db, personId)
}

/** Ends all sessions of a person except `keep`. */
export async function endSessions(db: Db, personId: string, keep: string | null = null): Promise<number> {
  const ended = await deleteSessions(db, personId, keep)
  if (ended > 0) endStreams(db, personId)
  return ended
}

/** After the commit, every process ends the live streams of the person that are no longer allowed. */
export const endStreams = (db: Db, personId: string): void => db.notify(personId, 'access')

export async function deleteExpiredSessions(db: Db, now: Date): Promise<void> {
  await deleteOldSessions(db, new Date(now.getTime() - maxAgeMs), new Date(now.getTime() - idleMs))
}
