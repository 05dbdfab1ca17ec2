import type { Event } from './contract.ts'
import { type Claim, isSigned, readServiceSignature, readStandardSignature } from './signature.ts'

export type WebhookFault =
  | 'missing_header'
  | 'malformed_header'
  | 'timestamp_too_old'
  | 'timestamp_in_future'
  | 'no_match'
  | 'body_not_raw'
  | 'invalid_json'

/** Thrown if a delivery cannot be verified. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
  readonly reason: WebhookFault

  constructor(reason: WebhookFault, message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * Any type except the known ones. It exists only for the compiler: an enum member is a string, but none of the known types,
 * so a `switch` over `event.type` narrows. At run time, `type` is the name of the type.
 */
declare enum UnknownEventType {
  another = 'a type this version does not know',
}

/** An event of a type that this version of the SDK does not know. Ignore it and return normally. */
export interface UnknownEvent {
  id: string
  type: UnknownEventType
  created_at: string
  data: unknown
}

/** `type` determines the type of `data`. */
export type ParleyEvent = Event | UnknownEvent

/** A `Headers` object, or a plain object; the case of the names does not matter. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | { readonly [name: string]: string | readonly string[] | undefined }

export interface VerifyOptions {
  /** How many seconds the time of the delivery may differ from now. Default: 300. */
  toleranceSeconds?: number | undefined
  /** The current time in milliseconds. Default: now. */
  nowMs?: number | undefined
}

/**
 * Verifies a delivery and returns its event. Throws a `WebhookVerificationError` otherwise; respond with a status other than
 * 2xx in that case. `rawBody` is the unparsed body: JSON that was parsed and serialized again does not match. Pass several
 * secrets if the receiver serves several endpoints.
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = 300, nowMs = Date.now() }: VerifyOptions = {},
): Promise<ParleyEvent> {
  const secrets = readSecrets(secret)
  const body = bytesOf(rawBody)
  const claim = readClaim(headers)
  const age = nowMs / 1000 - claim.seconds
  if (age > toleranceSeconds) {
    throw failure(
      'timestamp_too_old',
      `The delivery was signed ${Math.round(age)} s ago, more than the allowed ${toleranceSeconds} s.`,
    )
  }
  if (age < -toleranceSeconds) {
    throw failure(
      'timestamp_in_future',
      `The delivery was signed ${Math.round(-age)} s in the future, more than the allowed ${toleranceSeconds} s. Check the clock of this machine.`,
    )
  }
  if (!(await isSigned(claim, body, secrets))) {
    throw failure(
      'no_match',
      `The signature in ${claim.header} does not match the body and the secret. Check that the secret belongs to this endpoint and is current, and that the body is unchanged.${hintOn(secrets)}`,
    )
  }
  return readEvent(body)
}

/** The secrets as a list. Throws a TypeError if there is none, because that is an error in the receiver, not in the delivery. */
export function readSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (!Array.isArray(secrets) || secrets.length === 0 || secrets.some((one) => typeof one !== 'string' || one === '')) {
    throw new TypeError(
      'The signing secret is missing: pass the "whsec_…" value that was shown when the endpoint was created.',
    )
  }
  if (secrets.some((one) => /\s/.test(one))) {
    throw new TypeError('The signing secret contains a space or a line break. Copy the "whsec_…" value again.')
  }
  return secrets
}

const hintOn = (secrets: readonly string[]): string =>
  secrets.every((one) => one.startsWith('whsec_')) ? '' : ' A secret starts with "whsec_", which is a part of it.'

function bytesOf(rawBody: unknown): Uint8Array {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody)
  if (rawBody instanceof Uint8Array) return rawBody
  // By name instead of instanceof: test runners and workers may have their own ArrayBuffer class.
  if (Object.prototype.toString.call(rawBody) === '[object ArrayBuffer]') return new Uint8Array(rawBody as ArrayBuffer)
  const got = rawBody === undefined || rawBody === null ? 'nothing' : `a parsed body (${typeof rawBody})`
  throw failure('body_not_raw', `Expected the raw body, but got ${got}. Read the body before it is parsed.`)
}

function readClaim(headers: WebhookHeaders): Claim {
  const value = headerOf(headers, 'service-signature')
  if (value !== null) {
    const claim = readServiceSignature(value)
    if (claim) return claim
    throw failure('malformed_header', 'The header Service-Signature is malformed. Expected "t=<seconds>,v1=<hex>".')
  }
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  )
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signature !== 'string') {
    throw failure('missing_header', 'The header Service-Signature is missing. The request may not be from Parley.')
  }
  const claim = readStandardSignature(id, timestamp, signature)
  if (claim) return claim
  throw failure('malformed_header', 'The header webhook-timestamp or webhook-signature is malformed.')
}

/** The value of a header, or null. A duplicate header is rejected, because it is unclear which value counts. */
function headerOf(headers: WebhookHeaders, name: string): string | null {
  if (isHeadersLike(headers)) return headers.get(name) ?? null
  const values = Object.entries(headers ?? {})
    .filter(([key]) => key.toLowerCase() === name)
    .flatMap(([, value]) => value ?? [])
  if (values.length > 1) throw failure('malformed_header', `The header ${name} is duplicated.`)
  return values[0] ?? null
}

function isHeadersLike(headers: WebhookHeaders): headers is { get(name: string): string | null | undefined } {
  return typeof headers?.get === 'function'
}

function readEvent(body: Uint8Array): ParleyEvent {
  let event: Partial<ParleyEvent> | null
  try {
    event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw failure('invalid_json', 'The signature is valid, but the body is not JSON.')
  }
  if (typeof event?.id !== 'string' || typeof event.type !== 'string') {
    throw failure('invalid_json', 'The signature is valid, but the body is not an event: it has no id or no type.')
  }
  return event as ParleyEvent
}

function failure(reason: WebhookFault, message: string): WebhookVerificationError {
  return new WebhookVerificationError(reason, message)
}
