/**
 * One message per Idempotency-Key. The response is stored in the transaction that stores the message, so both exist or
 * neither. A second request with the key, in any process, waits for that transaction at the unique index and then returns
 * the stored response. A request that failed stores nothing and can be repeated. Idempotency keys are scoped to
 * a calling system: an API key and the keys that it was rotated from or to.
 */
import type { FieldError } from '@parley/contract/field-errors'
import type { Message } from '@parley/contract/message'
import { databaseNow } from '../../../db/database-clock.ts'
import type { Db } from '../../../db/db.ts'
import { inBatches } from '../../../db/in-batches.ts'
import type { Caller } from '../../../lib/access-check.ts'
import type { Clock } from '../../../lib/clock.ts'
import { sha256 } from '../../../lib/hash.ts'
import { refuse } from '../../../lib/refuse.ts'
import {
  countKey,
  deleteCountsBefore,
  deleteResponsesBefore,
  insertStoredResponse,
  setLockTimeout,
  storedResponse,
} from './idempotency.sql.ts'

export type IdempotencyScope = Pick<Caller, 'workspaceId' | 'systemId'>

/** A request with an Idempotency-Key. */
export interface IdempotentRequest {
  scope: IdempotencyScope
  key: string
  fingerprint: Buffer
}

const waitMs = 2_000
/** Bounds the size of the table. It is not meant to limit use: each key comes with a message that was paid for. */
export const maxPerDay = 200_000
const retentionHours = 25

export function checkIdempotencyKey(key: string | undefined): FieldError[] {
  if (key === undefined || /^[!-~]{1,255}$/.test(key)) return []
  const message = 'The Idempotency-Key must have 1 to 255 visible ASCII characters, without spaces.'
  return [{ param: 'Idempotency-Key', code: 'invalid', message }]
}

export function newIdempotentRequest(scope: IdempotencyScope, key: string, body: unknown): IdempotentRequest {
  return { scope, key, fingerprint: sha256(`POST /v1/messages ${canonical(body)}`) }
}

/** The stored response to the same request. Refuses a different request with the same key. */
export async function findStoredResponse(
  db: Db,
  { scope, key, fingerprint }: IdempotentRequest,
): Promise<Message | undefined> {
  const stored = await storedResponse(db, scope.workspaceId, scope.systemId, key)
  if (!stored) return undefined
  if (!stored.fingerprint.equals(fingerprint)) refuse('idempotency_key_reused')
  return JSON.parse(stored.answer) as Message
}

/** Stores the response within the transaction that stores the message. False if another request has stored one already. */
export async function saveResponse(db: Db, request: IdempotentRequest, response: Message, now: Date): Promise<boolean> {
  const { scope, key, fingerprint } = request
  await setLockTimeout(db, waitMs)
  const { workspaceId, systemId } = scope
  const row = { workspaceId, systemId, idempotencyKey: key, fingerprint, answer: JSON.stringify(response) }
  if ((await insertStoredResponse(db, row, now)) === 0) return false
  if (!(await countKey(db, workspaceId, now, maxPerDay))) {
    const message = `Rate limit exceeded: this workspace has used ${maxPerDay} idempotency keys today. Try again tomorrow (UTC).`
    const waitSeconds = Math.ceil((86_400_000 - (now.getTime() % 86_400_000)) / 1000)
    const headers = { 'Retry-After': String(waitSeconds), 'RateLimit-Reset': String(waitSeconds) }
    refuse('rate_limited', { message, details: { limit: maxPerDay, retry_after: waitSeconds }, headers })
  }
  return true
}

/** A lock timeout: another request with this key, or one that holds a lock this send needs, is still running. */
export const isInProgress = (error: unknown): boolean => (error as { code?: string }).code === '55P03'

export async function deleteOldResponses(db: Db, clock: Clock): Promise<void> {
  const before = new Date((await databaseNow(db, clock)).getTime() - retentionHours * 3_600_000)
  await inBatches((limit) => deleteResponsesBefore(db, before, limit))
  await deleteCountsBefore(db, before)
}

/** JSON with sorted members, so that their order does not change the fingerprint. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join()}}`
}
