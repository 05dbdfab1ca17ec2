import fc from 'fast-check'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { expect, expectTypeOf, test } from 'vitest'
import { eventBody, nowSeconds, secret, sign, signStandard } from '../testing/signing.ts'
import type {
  ContactPreferenceData,
  ControlChangedData,
  CreditsLowData,
  EchoedMessage,
  FlowSubmission,
  HistoryImportedData,
  InboundMessage,
  MessageStatusData,
  NetworkUpdateData,
  SenderStatusData,
  TemplateStatusData,
  WebhookDisabledData,
} from './contract.ts'
import { type ParleyEvent, type UnknownEvent, verifyWebhook, type WebhookHeaders } from './verify.ts'

const body = eventBody()
const nowMs = Date.parse('2026-11-15T09:00:00.000Z')
const seconds = nowMs / 1000
const signature = sign(body, { seconds })
const id = JSON.parse(body).id

test.each<[string, WebhookHeaders]>([
  ['Headers', new Headers({ 'Service-Signature': signature })],
  ['a plain object', { 'service-signature': signature }],
  ['an object with names in capitals', { 'SERVICE-SIGNATURE': signature, other: undefined }],
  ['an object with arrays', { 'Service-Signature': [signature] }],
  ['a Map', new Map([['service-signature', signature]])],
  ['Standard Webhooks headers only', signStandard(body, { seconds })],
  ['several signatures', { 'service-signature': `${signature},v1=${'0'.repeat(64)},v2=unknown` }],
])('verifyWebhook accepts headers as %s', async (_name, headers) => {
  expect(await verifyWebhook(body, headers, secret, { nowMs })).toMatchObject({ id, type: 'message.received' })
})

test.each([
  ['a string', body],
  ['a Buffer', Buffer.from(body)],
  ['a view into a larger buffer', new Uint8Array(Buffer.from(`xx${body}xx`)).subarray(2, Buffer.byteLength(body) + 2)],
  ['an ArrayBuffer', new Uint8Array(Buffer.from(body)).buffer],
])('verifyWebhook accepts the body as %s', async (_name, raw) => {
  expect(await verifyWebhook(raw, { 'service-signature': signature }, secret, { nowMs })).toMatchObject({ id })
})

test('with several secrets, one of them has to match', async () => {
  const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  for (const headers of [{ 'service-signature': signature }, signStandard(body, { seconds })]) {
    expect(await verifyWebhook(body, headers, [other, secret], { nowMs })).toMatchObject({ id })
    await expect(verifyWebhook(body, headers, [other], { nowMs })).rejects.toMatchObject({ reason: 'no_match' })
  }
})

const signed = (value: string) => ({ 'service-signature': value })
const { 'webhook-id': _, ...idless } = signStandard(body, { seconds })

test.each<[string, unknown, WebhookHeaders]>([
  ['missing_header', body, {}],
  ['missing_header', body, new Headers()],
  ['missing_header', body, idless],
  ['malformed_header', body, signed('')],
  ['malformed_header', body, signed('v1=abc')],
  ['malformed_header', body, signed(`t=${seconds}`)],
  ['malformed_header', body, signed(`t=1,${signature}`)],
  ['malformed_header', body, signed(signature.toUpperCase())],
  ['malformed_header', body, { 'service-signature': [signature, signature] }],
  ['malformed_header', body, signed(signature + signature.replace(/^t=\d+/, '').repeat(8))],
  ['malformed_header', body, { ...signStandard(body, { seconds }), 'webhook-signature': 'v1,abc' }],
  ['malformed_header', body, { ...signStandard(body, { seconds }), 'webhook-timestamp': 'now' }],
  ['timestamp_too_old', body, signed(sign(body, { seconds: seconds - 301 }))],
  ['timestamp_too_old', body, signStandard(body, { seconds: seconds - 301 })],
  ['timestamp_in_future', body, signed(sign(body, { seconds: seconds + 301 }))],
  ['no_match', body, signed(sign(body, { seconds, key: 'whsec_other' }))],
  ['no_match', `${body} `, signed(signature)],
  // Valid Standard Webhooks headers do not make up for an invalid Service-Signature.
  ['no_match', body, { ...signStandard(body, { seconds }), ...signed(sign('x', { seconds })) }],
  ['body_not_raw', JSON.parse(body), signed(signature)],
  ['body_not_raw', undefined, signed(signature)],
  ['invalid_json', 'x', signed(sign('x', { seconds }))],
  ['invalid_json', 'null', signed(sign('null', { seconds }))],
  ['invalid_json', '{"id":"1"}', signed(sign('{"id":"1"}', { seconds }))],
])('an invalid delivery is rejected with %s', async (reason, raw, headers) => {
  const name = 'WebhookVerificationError'
  await expect(verifyWebhook(raw as string, headers, secret, { nowMs })).rejects.toMatchObject({ name, reason })
})

test('five minutes either way are allowed, or as many as are given', async () => {
  for (const apart of [-300, 300]) {
    const headers = signed(sign(body, { seconds: seconds + apart }))
    expect(await verifyWebhook(body, headers, secret, { nowMs })).toMatchObject({ id })
    await expect(verifyWebhook(body, headers, secret, { nowMs, toleranceSeconds: 299 })).rejects.toThrow('299 s')
  }
})

test.each(['', [], [''], undefined])('without a secret nothing is verified: %j', async (none) => {
  await expect(verifyWebhook(body, signed(signature), none as string, { nowMs })).rejects.toThrow(TypeError)
})

test.each(['whsec_x\n', ' whsec_x', ['whsec_x', 'whsec_y ']])(
  'a secret with white space is refused: %j',
  async (wrong) => {
    await expect(verifyWebhook(body, signed(signature), wrong, { nowMs })).rejects.toThrow('a space or a line break')
  },
)

test('a secret without its prefix does not match, and the error says so', async () => {
  const given = verifyWebhook(body, signed(signature), secret.replace('whsec_', ''), { nowMs })
  await expect(given).rejects.toThrow('A secret starts with "whsec_"')
  await expect(verifyWebhook(`${body} `, signed(signature), secret, { nowMs })).rejects.not.toThrow('starts with')
})

test('an event of an unknown type is handed on', async () => {
  const later = eventBody({ type: 'message.edited', data: { a: 1 } })
  const event = await verifyWebhook(later, signed(sign(later, { seconds })), secret, { nowMs })
  expect(event).toEqual(JSON.parse(later))
})

test('the type of an event determines the type of its data', () => {
  const look = (event: ParleyEvent) => {
    if (event.type === 'message.received') return expectTypeOf(event.data).toEqualTypeOf<InboundMessage>()
    if (event.type === 'webhook.test') return expectTypeOf(event.data.example_of).toEqualTypeOf<string>()
    if (event.type === 'flow.completed') return expectTypeOf(event.data).toEqualTypeOf<FlowSubmission>()
    switch (event.type) {
      case 'message.sent':
      case 'message.delivered':
      case 'message.read':
      case 'message.failed':
        return expectTypeOf(event.data).toEqualTypeOf<MessageStatusData>()
      case 'template.status_changed':
        return expectTypeOf(event.data).toEqualTypeOf<TemplateStatusData>()
      case 'sender.status_changed':
        return expectTypeOf(event.data).toEqualTypeOf<SenderStatusData>()
      case 'contact.preference_changed':
        return expectTypeOf(event.data).toEqualTypeOf<ContactPreferenceData>()
      case 'message.echoed':
        return expectTypeOf(event.data).toEqualTypeOf<EchoedMessage>()
      case 'conversation.control_changed':
        return expectTypeOf(event.data).toEqualTypeOf<ControlChangedData>()
      case 'history.imported':
        return expectTypeOf(event.data).toEqualTypeOf<HistoryImportedData>()
      case 'webhook.disabled':
        return expectTypeOf(event.data).toEqualTypeOf<WebhookDisabledData>()
      case 'credits.low':
        return expectTypeOf(event.data).toEqualTypeOf<CreditsLowData>()
      case 'network.update':
        return expectTypeOf(event.data).toEqualTypeOf<NetworkUpdateData>()
      default:
        expectTypeOf(event).toEqualTypeOf<UnknownEvent>()
        expectTypeOf(event.type).toExtend<string>()
        return expectTypeOf(event.data).toEqualTypeOf<unknown>()
    }
  }
  expect(look).toBeTypeOf('function')
})

const jsonBody = fc.json({ maxDepth: 2 }).map((data) => `{"id":"1","type":"t","data":${data}}`)
const bytesOfSecret = fc.uint8Array({ minLength: 32, maxLength: 32 })
const newSecret = bytesOfSecret.map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`)

test('a flipped bit in body, secret, time or signature never verifies', async () => {
  const place = fc.constantFrom('body', 'secret', 'time', 'signature')
  const property = fc.asyncProperty(jsonBody, bytesOfSecret, place, fc.nat(), fc.nat(7), fc.boolean(), forged)
  await fc.assert(property, { numRuns: 300 })

  async function forged(text: string, bytes: Uint8Array, where: string, at: number, bit: number, standard: boolean) {
    const flip = (from: Uint8Array) => {
      const to = Uint8Array.from(from)
      to[at % to.length] = (to[at % to.length] as number) ^ (1 << bit)
      return to
    }
    const toSecret = (from: Uint8Array) => `whsec_${Buffer.from(from).toString('base64')}`
    const key = toSecret(bytes)
    const headers = standard ? signStandard(text, { seconds, key }) : signed(sign(text, { seconds, key }))
    expect(await verifyWebhook(text, headers, key, { nowMs })).toBeTruthy()
    const alter = (name: string, change: (value: string) => string) => ({
      ...headers,
      [name]: change((headers as Record<string, string>)[name] ?? ''),
    })
    const changed = {
      body: () => [flip(Buffer.from(text)), headers, key] as const,
      secret: () => [text, headers, toSecret(flip(bytes))] as const,
      time: () => {
        const other = String(seconds + 1 + (at % 200))
        const name = standard ? 'webhook-timestamp' : 'service-signature'
        return [text, alter(name, (value) => value.replace(String(seconds), other)), key] as const
      },
      signature: () => {
        const name = standard ? 'webhook-signature' : 'service-signature'
        // Replaces the first character of the signature.
        const other = (value: string) =>
          value.replace(/(v1[=,])(.)/, (_all, head, one) => head + (one === '0' ? '1' : '0'))
        return [text, alter(name, other), key] as const
      },
    }[where as 'body']()
    await expect(verifyWebhook(changed[0], changed[1], changed[2], { nowMs })).rejects.toMatchObject({
      reason: 'no_match',
    })
  }
})

test('the libraries of Stripe and Standard Webhooks give the same result', async () => {
  const { webhooks } = new Stripe('sk_test_unused')
  const accepted = async (verify: () => unknown) => {
    try {
      await verify()
      return true
    } catch {
      return false
    }
  }
  // Stripe's library accepts timestamps far in the future; ours does not.
  const age = fc.oneof(fc.integer({ min: -290, max: 290 }), fc.integer({ min: 310, max: 9000 }))
  await fc.assert(
    fc.asyncProperty(jsonBody, newSecret, newSecret, fc.boolean(), age, async (text, mine, other, right, old) => {
      const given = { seconds: nowSeconds() - old, key: right ? mine : other }
      const [own, standard] = [sign(text, given), signStandard(text, given)]
      const ours = await accepted(() => verifyWebhook(text, signed(own), mine))
      expect(ours).toBe(right && old <= 300)
      expect(await accepted(() => webhooks.constructEvent(text, own, mine))).toBe(ours)
      expect(await accepted(() => verifyWebhook(text, standard, mine))).toBe(ours)
      expect(await accepted(() => new StandardWebhook(mine).verify(text, standard))).toBe(ours)
    }),
    { numRuns: 150 },
  )
})
