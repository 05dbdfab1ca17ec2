// Writes sdk/vectors.json, the test vectors of webhook signatures, with the code that signs deliveries.
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { signatureHeaders, signingKeysOf } from '../server/src/domain/deliveries/engine/attempt/signature.ts'

export const vectorsFile = join(import.meta.dirname, '..', 'sdk', 'vectors.json')

/** The reasons of an invalid delivery, as the SDKs name them. */
export type VectorResult =
  | 'valid'
  | 'missing_header'
  | 'malformed_header'
  | 'timestamp_too_old'
  | 'timestamp_in_future'
  | 'no_match'

export interface Vector {
  name: string
  /** The secrets of the receiver. */
  secrets: string[]
  headers: Record<string, string>
  body_base64: string
  /** Whether the body is an event. If it is not, the signature can still be valid. */
  is_event: boolean
  result: VectorResult
}

export interface Vectors {
  description: string
  /** The time of the receiver, in Unix seconds. */
  now: number
  tolerance_seconds: number
  service_signature: Vector[]
  standard_webhooks: Vector[]
}

const now = 1_794_733_200
const tolerance = 300
const secretOf = (name: string) => `whsec_${createHash('sha256').update(name).digest('base64')}`
const [current, next, foreign] = ['current', 'next', 'foreign'].map(secretOf) as [string, string, string]
const eventId = '01a1dd7e-5b1c-7c55-9a1f-3f0b5f7a9d10'
const eventWith = (text: string) =>
  Buffer.from(
    JSON.stringify({
      id: eventId,
      type: 'message.received',
      created_at: '2026-11-15T09:00:00.000Z',
      data: { text },
    }),
  )
const event = eventWith('hola')

interface Given {
  secrets?: string[]
  signedWith?: string[]
  seconds?: number
  body?: Buffer
  /** What the receiver gets instead of the body that was signed. */
  received?: Buffer
  /** Changes the value of the signature header. */
  change?: (value: string) => string
  /** Removes these headers. */
  without?: string[]
  is_event?: boolean
}

type Scheme = 'service-signature' | 'webhook-signature'

function vector(scheme: Scheme, name: string, result: VectorResult, given: Given = {}): Vector {
  const { secrets = [current], signedWith = secrets, seconds = now, body = event, received = body } = given
  const flat = signatureHeaders(signedWith.map(signingKeysOf), eventId, seconds, body)
  const all = Object.fromEntries(flat.flatMap((each, at) => (at % 2 === 0 ? [[each, flat[at + 1] ?? '']] : [])))
  const { 'service-signature': own, ...standard } = all as Record<string, string>
  const headers: Record<string, string> = scheme === 'service-signature' ? { [scheme]: own ?? '' } : standard
  headers[scheme] = given.change?.(headers[scheme] ?? '') ?? headers[scheme] ?? ''
  for (const removed of given.without ?? []) delete headers[removed]
  return { name, secrets, headers, body_base64: received.toString('base64'), is_event: given.is_event ?? true, result }
}

const own = (name: string, result: VectorResult, given?: Given) => vector('service-signature', name, result, given)
const standard = (name: string, result: VectorResult, given?: Given) => vector('webhook-signature', name, result, given)

const wrongSignature = '0'.repeat(64)
const time = `t=${now}`
const malformed: [name: string, change: (value: string) => string][] = [
  ['an empty header', () => ''],
  ['a header of another kind', () => 'sha256=abc'],
  ['only commas', () => ',,,'],
  ['only a timestamp', () => time],
  ['no timestamp', (value) => value.replace(/^t=\d+,/, '')],
  ['an empty timestamp', (value) => value.replace(time, 't=')],
  ['a timestamp with a sign', (value) => value.replace(time, `t=+${now}`)],
  ['a negative timestamp', (value) => value.replace(time, `t=-${now}`)],
  ['a timestamp with a fraction', (value) => value.replace(time, `${time}.0`)],
  ['a timestamp in hexadecimal', (value) => value.replace(time, `t=0x${now.toString(16)}`)],
  ['a timestamp in other digits', (value) => value.replace(time, 't=١٧٩٤٧٣٣٢٠٠')],
  ['a timestamp with too many digits', (value) => value.replace(time, `t=${'9'.repeat(13)}`)],
  ['a very long timestamp', (value) => value.replace(time, `t=${'9'.repeat(400)}`)],
  ['two timestamps', (value) => `${time},${value}`],
  ['a signature that was cut', (value) => value.slice(0, -2)],
  ['a signature that is too long', (value) => `${value}00`],
  ['a signature in upper case', (value) => `${time},v1=${value.slice(value.indexOf('v1=') + 3).toUpperCase()}`],
  ['a signature that is not hexadecimal', () => `${time},v1=${'z'.repeat(64)}`],
  ['an empty signature', () => `${time},v1=`],
  ['only a signature of an unknown version', (value) => value.replace('v1=', 'v0=')],
  ['nine signatures', (value) => `${value}${`,v1=${wrongSignature}`.repeat(8)}`],
]

export const newVectors = (): Vectors => ({
  description:
    'Test vectors of webhook signatures. For each one, verify the headers and the body with the secrets, at the time `now` and with `tolerance_seconds`. Written by `npm run vectors`.',
  now,
  tolerance_seconds: tolerance,
  service_signature: [
    own('a valid delivery', 'valid'),
    own('a body that is not ASCII', 'valid', { body: eventWith('¿Qué tal? 你好 👋🏽 \u2028 \u0000') }),
    own('a large body', 'valid', { body: eventWith('ñ'.repeat(20_000)) }),
    own('an empty body', 'valid', { body: Buffer.alloc(0), is_event: false }),
    own('a body that is not UTF-8', 'valid', { body: Buffer.from([0xff, 0x00, 0xc3, 0x28]), is_event: false }),
    own('the oldest timestamp that is allowed', 'valid', { seconds: now - tolerance }),
    own('the latest timestamp that is allowed', 'valid', { seconds: now + tolerance }),
    own('a second too old', 'timestamp_too_old', { seconds: now - tolerance - 1 }),
    own('a second too far in the future', 'timestamp_in_future', { seconds: now + tolerance + 1 }),
    own('the timestamp 0', 'timestamp_too_old', { seconds: 0 }),
    own('a timestamp with 12 digits', 'timestamp_in_future', { seconds: 999_999_999_999 }),
    own('too old, with a wrong signature', 'timestamp_too_old', { signedWith: [foreign], seconds: now - 1000 }),
    own('another secret', 'no_match', { signedWith: [foreign] }),
    own('a changed body', 'no_match', { received: eventWith('hola!') }),
    own('a body with one more line break', 'no_match', { received: Buffer.concat([event, Buffer.from('\n')]) }),
    own('a body that was serialized again', 'no_match', {
      received: Buffer.from(JSON.stringify(JSON.parse(event.toString()), null, 1)),
    }),
    own('a body that was removed', 'no_match', { received: Buffer.alloc(0), is_event: false }),
    own('a changed timestamp', 'no_match', { change: (value) => value.replace(time, `t=${now + 1}`) }),
    own('a rotation, the receiver has the old secret', 'valid', { secrets: [current], signedWith: [current, next] }),
    own('a rotation, the receiver has the new secret', 'valid', { secrets: [next], signedWith: [current, next] }),
    own('a rotation, the receiver has both secrets', 'valid', { secrets: [current, next], signedWith: [next] }),
    own('a rotation, the receiver has another secret', 'no_match', {
      secrets: [foreign],
      signedWith: [current, next],
    }),
    own('eight signatures, the last one valid', 'valid', {
      change: (value) => value.replace(',v1=', `${`,v1=${wrongSignature}`.repeat(7)},v1=`),
    }),
    own('a valid signature after a malformed one', 'valid', { change: (value) => value.replace(',v1=', ',v1=ab,v1=') }),
    own('a signature of an unknown version too', 'valid', { change: (value) => `${value},v2=abc` }),
    own('spaces after the commas', 'valid', { change: (value) => value.replaceAll(',', ', ') }),
    own('the parts in another order', 'valid', { change: (value) => value.split(',').reverse().join(',') }),
    own('no header', 'missing_header', { without: ['service-signature'] }),
    ...malformed.map(([name, change]) => own(name, 'malformed_header', { change })),
  ],
  standard_webhooks: [
    standard('a valid delivery', 'valid'),
    standard('a body that is not ASCII', 'valid', { body: eventWith('¿Qué tal? 你好 👋🏽') }),
    standard('the oldest timestamp that is allowed', 'valid', { seconds: now - tolerance }),
    standard('a second too old', 'timestamp_too_old', { seconds: now - tolerance - 1 }),
    standard('a second too far in the future', 'timestamp_in_future', { seconds: now + tolerance + 1 }),
    standard('another secret', 'no_match', { signedWith: [foreign] }),
    standard('a changed body', 'no_match', { received: eventWith('hola!') }),
    standard('a rotation, the receiver has the old secret', 'valid', { signedWith: [current, next] }),
    standard('a rotation, the receiver has the new secret', 'valid', { secrets: [next], signedWith: [current, next] }),
    standard('no ID', 'missing_header', { without: ['webhook-id'] }),
    standard('no timestamp', 'missing_header', { without: ['webhook-timestamp'] }),
    standard('a signature that was cut', 'malformed_header', { change: (value) => value.slice(0, -3) }),
    standard('only a signature of an unknown version', 'malformed_header', {
      change: (value) => value.replace('v1,', 'v2,'),
    }),
  ],
})

export const vectorsText = (): string => `${JSON.stringify(newVectors(), null, 2)}\n`

if (process.argv[1] === import.meta.filename) {
  writeFileSync(vectorsFile, vectorsText())
  console.log('Wrote sdk/vectors.json.')
}
