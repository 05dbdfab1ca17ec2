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

/** Why a delivery is not to be trusted. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
  readonly reason: WebhookFault

  constructor(reason: WebhookFault, message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * Any type but the known ones. Declared and never made: only a member of an enumeration is a string to the compiler and yet
 * none of the known types, so that a `switch` over `event.type` narrows. At run time it is the type's own name.
 */
declare enum UnknownEventType {
  another = 'a type this version does not know',
}

/** An event of a type that this version of the SDK does not know. Acknowledge it and go on. */
export interface UnknownEvent {
  id: string
  type: UnknownEventType
  created_at: string
  data: unknown
}

/** `type` tells which event it is and with that what `data` holds. */
export type ParleyEvent = Event | UnknownEvent

/** A `Headers` object, or the plain object of a framework, its names in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | { readonly [name: string]: string | readonly string[] | undefined }

export interface VerifyOptions {
  /** How far the delivery's time may be from now, either way. 300 if left out. */
  toleranceSeconds?: number | undefined
  /** The time to compare with, in milliseconds; now if left out. */
  nowMs?: number | undefined
}

/**
 * Verifies a delivery and gives its event, or throws a `WebhookVerificationError`; answer with something other than 2xx
 * then. `rawBody` is the body exactly as it came, not one that was parsed and written again. Several secrets are for a
 * receiver that serves several endpoints.
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
    throw fault(
      'timestamp_too_old',
      `The delivery was signed ${Math.round(age)} s ago; ${toleranceSeconds} s are allowed.`,
    )
  }
  if (age < -toleranceSeconds) {
    throw fault(
      'timestamp_in_future',
      `The delivery was signed ${Math.round(-age)} s ahead of this machine's clock; ${toleranceSeconds} s are allowed. Is the clock right?`,
    )
  }
  if (!(await isSigned(claim, body, secrets))) {
    throw fault(
      'no_match',
      `The signature in ${claim.header} is not that of this body and secret. Either the secret is another endpoint's or was replaced, or the body is not as it came.`,
    )
  }
  return readEvent(body)
}

/** The secrets, of which there is at least one. That there is none is a mistake of the receiver, not of the sender. */
export function readSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (!Array.isArray(secrets) || secrets.length === 0 || secrets.some((one) => typeof one !== 'string' || one === '')) {
    throw new TypeError('The signing secret is missing: give the "whsec_…" that was shown with the endpoint.')
  }
  return secrets
}

function bytesOf(rawBody: unknown): Uint8Array {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody)
  if (rawBody instanceof Uint8Array) return rawBody
  // By name and not by class: a test runner or a worker may bring an ArrayBuffer of its own.
  if (Object.prototype.toString.call(rawBody) === '[object ArrayBuffer]') return new Uint8Array(rawBody as ArrayBuffer)
  const got = rawBody === undefined || rawBody === null ? 'nothing' : `a parsed body (${typeof rawBody})`
  throw fault(
    'body_not_raw',
    `The signature is over the body's bytes, but ${got} was handed in. Read the raw body before anything parses it.`,
  )
}

function readClaim(headers: WebhookHeaders): Claim {
  const own = headerOf(headers, 'service-signature')
  if (own !== null) {
    const claim = readServiceSignature(own)
    if (claim) return claim
    throw fault('malformed_header', 'The header Service-Signature is not of the form "t=<seconds>,v1=<hex>".')
  }
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  )
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signature !== 'string') {
    throw fault('missing_header', 'The header Service-Signature is missing. Did this request come from the service?')
  }
  const claim = readStandardSignature(id, timestamp, signature)
  if (claim) return claim
  throw fault('malformed_header', 'The headers webhook-timestamp and webhook-signature are not as they must be.')
}

/** The header's value, or null. One that stands twice is refused: it is unclear which of them counts. */
function headerOf(headers: WebhookHeaders, name: string): string | null {
  if (isHeadersLike(headers)) return headers.get(name) ?? null
  const values = Object.entries(headers ?? {})
    .filter(([key]) => key.toLowerCase() === name)
    .flatMap(([, value]) => value ?? [])
  if (values.length > 1) throw fault('malformed_header', `The header ${name} stands more than once.`)
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
    throw fault('invalid_json', 'The signature is right, but the body is not JSON.')
  }
  if (typeof event?.id !== 'string' || typeof event.type !== 'string') {
    throw fault('invalid_json', 'The signature is right, but the body is not an event: it lacks an id or a type.')
  }
  return event as ParleyEvent
}

function fault(reason: WebhookFault, message: string): WebhookVerificationError {
  return new WebhookVerificationError(reason, message)
}
