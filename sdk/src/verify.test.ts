import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { verifyWebhook } from './verify.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0123456789a='
const body = '{"id":"1","type":"message.received","created_at":"2026-11-15T09:00:00.000Z","data":{"text":"¿qué?"}}'
const nowMs = Date.parse('2026-11-15T09:00:00.000Z')
const seconds = nowMs / 1000
const sign = (text: string, at = seconds, key = secret) =>
  `t=${at},v1=${createHmac('sha256', key).update(`${at}.${text}`).digest('hex')}`

test('a delivery that was signed with the secret gives its event', async () => {
  expect(await verifyWebhook(body, sign(body), secret, { nowMs })).toMatchObject({ type: 'message.received' })
  expect(await verifyWebhook(Buffer.from(body), sign(body, seconds - 300), secret, { nowMs })).toMatchObject({
    id: '1',
  })
})

test.each([
  ['no_signature', body, undefined],
  ['malformed_signature', body, 'v1=abc'],
  ['malformed_signature', body, sign(body).toUpperCase()],
  ['too_old', body, sign(body, seconds - 301)],
  ['too_old', body, sign(body, seconds + 301)],
  ['wrong_signature', body, sign(body, seconds, 'whsec_other')],
  ['wrong_signature', `${body} `, sign(body)],
  ['not_json', 'x', sign('x')],
])('otherwise it says why not: %s', async (reason, text, signature) => {
  await expect(verifyWebhook(text, signature, secret, { nowMs })).rejects.toMatchObject({ reason })
})
