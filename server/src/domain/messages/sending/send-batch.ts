/**
 * Several messages of one request. Each is checked by itself; then the valid ones are stored by one statement for each hundred, in
 * their order, and a workspace that cannot pay for one still pays for those after it that cost less. With an Idempotency-Key, a
 * repeated request continues where an earlier one ended: each message has a key of its own, which is made from it.
 */
import type { FieldError } from '@parley/contract/field-errors'
import type { Message } from '@parley/contract/message'
import { batchMax } from '@parley/contract/message-batch'
import { Refusal, refuse, refuseIfAny } from '../../../lib/refuse.ts'
import { checkSend } from '../../../whatsapp/outgoing/check-send.ts'
import { readBalance } from '../../credits/credits.ts'
import { type BatchAcceptance, maxTogether } from './acceptance.ts'
import {
  batchFingerprint,
  checkIdempotencyKey,
  type IdempotentRequest,
  newBatchRequest,
  newIdempotentRequest,
  notStoredYet,
} from './idempotency.ts'
import { type CheckedMessage, checkMessage, maxTries, type SendCaller, type SendDeps } from './send.ts'
import type { AcceptedMessage, StoreOutcome } from './store-messages.ts'

interface BatchDeps extends SendDeps {
  acceptance: BatchAcceptance
  caller: Extract<SendCaller, { keyId: string }>
}

export type MessageResult =
  | { kind: 'accepted'; message: Message; replayed: boolean }
  | { kind: 'rejected'; refusal: Refusal }

/** The results are in the order of the messages. */
export async function sendBatch(
  deps: BatchDeps,
  messages: readonly unknown[],
  idempotencyKey: string | undefined,
): Promise<MessageResult[]> {
  refuseIfAny(checkIdempotencyKey(idempotencyKey))
  const batch = idempotencyKey === undefined ? null : { key: idempotencyKey, fingerprint: batchFingerprint(messages) }
  if (batch) await refuseOtherBatch(deps, batch)
  const all = toBatchMessages(deps, messages, batch)
  const results: Results = new Map()
  for (let tries = 0; tries < maxTries; tries++) {
    const open = all.filter((each) => !results.has(each))
    if (open.length === 0) break
    try {
      await storeRound(deps, await checkRound(deps, open, results), results)
    } catch (error) {
      // Stored messages must be reported. The others may have been stored too; only their key can tell.
      if (results.size === 0 || isOtherBatch(error)) throw error
      return all.map((each) => results.get(each) ?? { kind: 'rejected', refusal: new Refusal('service_unavailable') })
    }
  }
  return all.map((each) => results.get(each) ?? { kind: 'rejected', refusal: notStoredYet(each.idempotent) })
}

type Results = Map<BatchMessage, MessageResult>

const isOtherBatch = (error: unknown): boolean => error instanceof Refusal && error.code === 'idempotency_key_reused'

interface MessageToStore {
  each: BatchMessage
  accepted: AcceptedMessage
}

/** Returns the messages that are to be stored, in their order. The others have a result then. */
async function checkRound(deps: BatchDeps, open: readonly BatchMessage[], results: Results): Promise<MessageToStore[]> {
  const checked = await Promise.all(open.map((each) => checkOne(deps, each)))
  return open.flatMap((each, at) => {
    const result = checked[at] as CheckedMessage | Refusal
    if (result instanceof Refusal) {
      // The key of the request names another batch.
      if (result.code === 'idempotency_key_reused' && each.hasKeyOfBatch) throw result
      results.set(each, { kind: 'rejected', refusal: result })
    } else if (result.kind === 'replayed') {
      results.set(each, { kind: 'accepted', message: result.message, replayed: true })
    } else return [{ each, accepted: result.accepted }]
    return []
  })
}

/**
 * Stores messages in their order. Stops after a part with a message that has to be checked again, because credits are
 * spent in this order.
 */
async function storeRound(deps: BatchDeps, toStore: readonly MessageToStore[], results: Results): Promise<void> {
  for (let from = 0; from < toStore.length; from += maxTogether) {
    const part = toStore.slice(from, from + maxTogether)
    const outcomes = await deps.acceptance.storeInOrder(part.map(({ accepted }) => accepted))
    // First, because reading the other results may fail.
    for (const [at, { each, accepted }] of part.entries()) {
      if (outcomes[at]?.kind !== 'stored') continue
      results.set(each, { kind: 'accepted', message: accepted.response, replayed: false })
    }
    const refusals = await Promise.all(part.map(({ each }, at) => refusalOf(deps, each, outcomes[at])))
    for (const [at, { each }] of part.entries()) {
      const refusal = refusals[at]
      if (refusal) results.set(each, { kind: 'rejected', refusal })
    }
    if (part.some(({ each }) => !results.has(each))) return
  }
}

/** Another batch with the same key may have other messages at other places. */
async function refuseOtherBatch({ acceptance, caller }: BatchDeps, { key, fingerprint }: BatchKey): Promise<void> {
  const places = Array.from({ length: batchMax }, (_, index) => newBatchRequest(caller, key, index, fingerprint))
  const stored = await Promise.all(places.map((place) => acceptance.findStored(place)))
  if (stored.some((each) => each && !each.fingerprint.equals(fingerprint))) refuse('idempotency_key_reused')
}

/** What the messages would cost, or why they would be rejected. */
export async function checkBatch(
  deps: BatchDeps,
  messages: readonly unknown[],
  idempotencyKey: string | undefined,
): Promise<({ credits: number } | Refusal)[]> {
  refuseIfAny(checkIdempotencyKey(idempotencyKey))
  const all = toBatchMessages(deps, messages, null).map((each) => ({ ...each, idempotent: null }))
  const checked = await Promise.all(all.map((each) => checkOne(deps, each)))
  let available = await readBalance(deps.db, deps.caller.workspaceId)
  return checked.map((each) => {
    if (each instanceof Refusal) return each
    const credits = each.kind === 'new' ? each.accepted.message.credits : 0
    if (credits > available) return new Refusal('insufficient_credits', { details: { required: credits, available } })
    available -= credits
    return { credits }
  })
}

/** The Idempotency-Key of the request. */
interface BatchKey {
  key: string
  fingerprint: Buffer
}

interface BatchMessage {
  body: unknown
  errors: readonly FieldError[]
  idempotent: IdempotentRequest | null
  /** Its key is made from the key of the request. */
  hasKeyOfBatch: boolean
}

function toBatchMessages({ caller }: BatchDeps, messages: readonly unknown[], batch: BatchKey | null): BatchMessage[] {
  return messages.map((message, index): BatchMessage => {
    const isObject = typeof message === 'object' && message !== null && !Array.isArray(message)
    const { idempotency_key: key, ...members } = (isObject ? message : {}) as { idempotency_key?: unknown }
    const body = isObject ? members : message
    const errors = [...checkSend(body), ...checkOwnKey(key)]
    const base = { body, errors, hasKeyOfBatch: false }
    if (errors.length > 0) return { ...base, idempotent: null }
    if (typeof key === 'string') return { ...base, idempotent: newIdempotentRequest(caller, key, body) }
    if (batch === null) return { ...base, idempotent: null }
    return { ...base, idempotent: newBatchRequest(caller, batch.key, index, batch.fingerprint), hasKeyOfBatch: true }
  })
}

const checkOwnKey = (key: unknown): FieldError[] =>
  key === undefined
    ? []
    : checkIdempotencyKey(typeof key === 'string' ? key : '').map((error) => ({
        ...error,
        param: 'idempotency_key',
        message: error.message.replace('Idempotency-Key', '`idempotency_key`'),
      }))

async function checkOne(
  deps: BatchDeps,
  { body, errors, idempotent }: BatchMessage,
): Promise<CheckedMessage | Refusal> {
  try {
    return await checkMessage(deps, body, errors, idempotent)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

/** Undefined if the message is stored, or if another request came first: then it is checked again. */
async function refusalOf(
  { acceptance }: BatchDeps,
  { idempotent }: BatchMessage,
  outcome: StoreOutcome | undefined,
): Promise<Refusal | undefined> {
  if (outcome?.kind !== 'refused') return undefined
  // The request that was first may have the same key, and may have used the last credits.
  const first = idempotent && (await acceptance.findStored(idempotent))
  // Checked again, it is replayed, or refused because of its key.
  return first ? undefined : outcome.refusal
}
