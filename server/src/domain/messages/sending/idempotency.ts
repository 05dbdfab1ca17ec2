/**
 * One message per Idempotency-Key. The response is stored by the statement that stores the message, so both exist or
 * neither. A second request with the key, in any process, waits for that transaction at the unique index and then returns
 * the stored response. A request that failed stores nothing and can be repeated. Idempotency keys are scoped to
 * a calling system: an API key and the keys that it was rotated from or to.
 */
import type { FieldError } from '@parley/contract/field-errors'
import type { Message } from '@parley/contract/message'
import { databaseNow } from '../../../db/database-clock.ts'
import type { Db } from '../../../db/db.ts'
import { inBatches } from '../../../db/in-batches.ts'
import type { Caller } from '../../../http/access-check.ts'
import type { Clock } from '../../../lib/clock.ts'
import { sha256 } from '../../../lib/hash.ts'
import { Refusal, refuse } from '../../../lib/refuse.ts'
import { deleteCountsBefore, deleteResponsesBefore, type StoredResponse, storedResponses } from './idempotency.sql.ts'

export type { StoredResponse }

export type IdempotencyScope = Pick<Caller, 'workspaceId' | 'systemId'>

/** A request with an Idempotency-Key. */
export interface IdempotentRequest {
  scope: IdempotencyScope
  key: string
  fingerprint: Buffer
}

/** How long a request waits for another one with the same key. */
export const keyWaitMs = 2_000

/** For a message that was not stored because of other requests. Only one with a key may be in progress. */
export const notStoredYet = (idempotent: IdempotentRequest | null): Refusal =>
  new Refusal(idempotent ? 'idempotency_in_progress' : 'service_unavailable')

/** Bounds the size of the table. It is not meant to limit use: each key comes with a message that was paid for. */
export const maxPerDay = 2_000_000
const retentionHours = 25

export function checkIdempotencyKey(key: string | undefined): FieldError[] {
  if (key === undefined || /^[!-~]{1,255}$/.test(key)) return []
  const message = 'The Idempotency-Key must have 1 to 255 visible ASCII characters, without spaces.'
  return [{ param: 'Idempotency-Key', code: 'invalid', message }]
}

export function newIdempotentRequest(scope: IdempotencyScope, key: string, body: unknown): IdempotentRequest {
  return { scope, key, fingerprint: sha256(`POST /v1/messages ${canonical(body)}`) }
}

/**
 * A message of a batch that has the Idempotency-Key of its request. With the same key, any other batch is another request, so
 * that the fingerprint is that of all messages. No client can send this key: it has a space.
 */
export const newBatchRequest = (
  scope: IdempotencyScope,
  key: string,
  index: number,
  fingerprint: Buffer,
): IdempotentRequest => ({ scope, key: `batch ${index} ${key}`, fingerprint })

export const batchFingerprint = (messages: readonly unknown[]): Buffer =>
  sha256(`POST /v1/messages/batch ${canonical(messages)}`)

/** The responses that are stored for these requests, in their order. */
export async function findStoredResponses(
  db: Db,
  requests: readonly IdempotentRequest[],
): Promise<(StoredResponse | undefined)[]> {
  const found = requests.map((): StoredResponse | undefined => undefined)
  const wanted = requests.map(({ scope: { workspaceId, systemId }, key: idempotencyKey }, index) => {
    return { index, workspaceId, systemId, idempotencyKey }
  })
  for (const { index, ...stored } of await storedResponses(db, { wanted })) found[index] = stored
  return found
}

/** The stored response to the same request. Refuses a different request with the same key. */
export function replay({ fingerprint }: IdempotentRequest, stored: StoredResponse): Message {
  if (!stored.fingerprint.equals(fingerprint)) refuse('idempotency_key_reused')
  return JSON.parse(stored.answer) as Message
}

/** Identifies requests of which at most one may be stored. */
export const idOf = ({ scope, key }: IdempotentRequest): string => `${scope.workspaceId} ${scope.systemId} ${key}`

/** The refusal of a key when the day's limit is reached. */
export function tooManyKeys(now: Date): Refusal {
  const message = `Rate limit exceeded: this workspace has used ${maxPerDay} idempotency keys today. Try again tomorrow (UTC).`
  const waitSeconds = Math.ceil((86_400_000 - (now.getTime() % 86_400_000)) / 1000)
  const headers = { 'Retry-After': String(waitSeconds), 'RateLimit-Reset': String(waitSeconds) }
  return new Refusal('rate_limited', { message, details: { limit: maxPerDay, retry_after: waitSeconds }, headers })
}

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
