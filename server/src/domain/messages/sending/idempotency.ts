/**
 * One send per Idempotency-Key. The answer is kept in the transaction that keeps the message, so there is either both or
 * neither; a second request under the key waits for that transaction at the unique index, in whatever process, and then
 * gives the same answer. A request that was refused keeps nothing and may be repeated. Keys are each API key's own.
 */
import type { FieldError } from '@parley/contract/field-errors'
import type { Message } from '@parley/contract/message'
import { databaseNow } from '../../../db/database-clock.ts'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { sha256 } from '../../../lib/hash.ts'
import { refuse } from '../../../lib/refuse.ts'
import type { Author } from '../reading/messages.sql.ts'
import {
  countRow,
  deleteDaysBefore,
  deleteResponsesBefore,
  insertStoredResponse,
  limitWait,
  storedResponse,
} from './idempotency.sql.ts'

/** A request that is to happen once. */
export interface IdempotentRequest {
  author: Author
  key: string
  fingerprint: Buffer
}

const waitMs = 2_000
/** A guard, not a budget: each is stored with a message that was paid for. */
export const maxPerDay = 200_000
const keptHours = 25

export function checkIdempotencyKey(key: string | undefined): FieldError[] {
  if (key === undefined || /^[!-~]{1,255}$/.test(key)) return []
  const message = 'The Idempotency-Key must have 1 to 255 visible ASCII characters.'
  return [{ param: 'Idempotency-Key', code: 'invalid', message }]
}

export function newIdempotentRequest(author: Author, key: string, body: unknown): IdempotentRequest {
  return { author, key, fingerprint: sha256(`POST /v1/messages ${canonical(body)}`) }
}

/** The first answer, if there was one to the same request; another request under the key is refused. */
export async function findStoredResponse(
  db: Db,
  { author, key, fingerprint }: IdempotentRequest,
): Promise<Message | undefined> {
  const stored = await storedResponse(db, author.workspaceId, author.keyId, key)
  if (!stored) return undefined
  if (!stored.fingerprint.equals(fingerprint)) refuse('idempotency_key_reused')
  return JSON.parse(stored.answer) as Message
}

/** Keeps the answer, within the transaction that does what it tells. False: somebody else's is kept already. */
export async function saveResponse(db: Db, once: IdempotentRequest, response: Message, now: Date): Promise<boolean> {
  const { author, key, fingerprint } = once
  await limitWait(db, waitMs)
  const row = { ...author, idempotencyKey: key, fingerprint, answer: JSON.stringify(response) }
  if ((await insertStoredResponse(db, row, now)) === 0) return false
  if (!(await countRow(db, author.workspaceId, now, maxPerDay))) {
    const message = `The workspace has used ${maxPerDay} idempotency keys today, as many as it may.`
    const wait = Math.ceil((86_400_000 - (now.getTime() % 86_400_000)) / 1000)
    const headers = { 'Retry-After': String(wait), 'RateLimit-Reset': String(wait) }
    refuse('rate_limited', { message, details: { limit: maxPerDay, retry_after: wait }, headers })
  }
  return true
}

/** Whoever holds the key, or a lock that this send needs too, is still at it; nothing was kept. */
export const isInProgress = (error: unknown): boolean => (error as { code?: string }).code === '55P03'

export async function deleteOldResponses(db: Db, clock: Clock): Promise<void> {
  const before = new Date((await databaseNow(db, clock)).getTime() - keptHours * 3_600_000)
  await deleteResponsesBefore(db, before)
  await deleteDaysBefore(db, before)
}

/** The same text for the same JSON, in whatever order its members came. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join()}}`
}
