import { expect, test } from 'vitest'
import { demoSecrets, hello, newWorld, numberId, text } from '../testing/world.ts'
import { knownCodes } from './error-catalogue.ts'
import { simulatedFailures, testNumberOf } from './test-numbers.ts'

const asyncCodes = [
  131026, 131047, 131049, 131050, 130472, 131053, 131052, 131042, 131051, 131036, 137000, 130429, 131000, 132015,
]

test.each(asyncCodes)('a message to 1555 0 %i is accepted and then fails with that code', async (code) => {
  const { send, receiver } = await newWorld()
  const { status, id } = await send({ ...text('x'), to: `15550${code}`, biz_opaque_callback_data: 'ref' })
  expect(status).toBe(200)
  const last = receiver.statusesOf(id).at(-1)
  expect(last).toMatchObject({
    status: 'failed',
    biz_opaque_callback_data: 'ref',
    errors: [{ code, error_data: { details: expect.any(String) } }],
  })
})

test('1555 1 returns every known code with its documented HTTP status', async () => {
  const { send } = await newWorld()
  for (const code of knownCodes()) {
    const { status, body } = await send({ ...text('x'), to: `15551${String(code).padStart(6, '0')}` })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(body).toMatchObject({
      error: { code, message: expect.any(String), type: 'OAuthException', fbtrace_id: expect.any(String) },
    })
  }
  for (const [code, status] of [
    [2, 503],
    [4, 400],
    [190, 401],
    [368, 403],
    [80007, 400],
    [131031, 403],
    [131057, 500],
    [133004, 503],
    [131016, 500],
  ])
    expect((await send({ ...text('x'), to: `15551${String(code).padStart(6, '0')}` })).status).toBe(status)
})

test('1555 2 succeeds on the second attempt, 1555 3 on the third', async () => {
  const { send } = await newWorld()
  const statuses = async (to: string) => [
    (await send({ ...hello, to })).status,
    (await send({ ...hello, to })).status,
    (await send({ ...hello, to })).status,
  ]
  expect(await statuses('15552131000')).toEqual([500, 200, 500])
  expect(await statuses('15553131000')).toEqual([500, 500, 200])
})

test('common test numbers are ordinary phones', () => {
  for (const number of ['15550000001', '15550780001', '15551234567', '15559999999', '16505550123'])
    expect(testNumberOf(number)).toBeUndefined()
})

const numberFor = (name: string) =>
  `1555900000${simulatedFailures.find(([, failure]) => failure === name)?.[0]}`.replace(
    /^(1555900000)(\d\d)$/,
    '155590000$2',
  )

test('a request can hang or be cut although the message was sent', async () => {
  const { simulator, control, receiver } = await newWorld()
  const call = (to: string) =>
    fetch(`${simulator.url}/v25.0/${numberId}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${demoSecrets.accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messaging_product: 'whatsapp', to, ...hello, biz_opaque_callback_data: to }),
      signal: AbortSignal.timeout(150),
    })
  const [hangs, cutAfter, cutBefore] = ['hangs_after_sending', 'cut_after_sending', 'cut_before_sending'].map(
    numberFor,
  ) as [string, string, string]
  await expect(call(hangs)).rejects.toThrow(/timeout/)
  await expect(call(cutAfter)).rejects.toThrow(/fetch failed/)
  await expect(call(cutBefore)).rejects.toThrow(/fetch failed/)
  await control.idle()
  expect(receiver.statuses().map((status) => status.biz_opaque_callback_data)).toEqual([hangs, cutAfter])
})

test('a request can get HTTP 500 with an HTML page, before and after sending', async () => {
  const { simulator, control, receiver } = await newWorld()
  for (const name of ['html_500', 'html_500_after_sending']) {
    const response = await fetch(`${simulator.url}/v25.0/${numberId}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${demoSecrets.accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        messaging_product: 'whatsapp',
        to: numberFor(name),
        ...hello,
        biz_opaque_callback_data: name,
      }),
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([500, 'text/html; charset=utf-8'])
    expect(await response.text()).toMatch(/^<!DOCTYPE html>/)
  }
  await control.idle()
  expect(receiver.statuses().map((status) => status.biz_opaque_callback_data)).toEqual(['html_500_after_sending'])
})

test('a status webhook can arrive before the API response', async () => {
  const { control, receiver, simulator } = await newWorld()
  const call = fetch(`${simulator.url}/v25.0/${numberId}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${demoSecrets.accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messaging_product: 'whatsapp', to: numberFor('status_before_response'), ...hello }),
  }).then((response) => ({ response, statusesThen: receiver.statuses().length }))
  expect(await call).toMatchObject({ statusesThen: 1 })
  await control.idle()
})

test('slow_response delays the response by five seconds', async () => {
  const { control, send } = await newWorld()
  let hasResponse = false
  const call = send({ ...hello, to: numberFor('slow_response') }).then((response) => {
    hasResponse = true
    return response
  })
  await expect.poll(() => control.phones.messages(numberFor('slow_response')).length).toBe(1)
  await control.clock.advance(4_999)
  expect(hasResponse).toBe(false)
  await control.clock.advance(1)
  expect((await call).status).toBe(200)
})

test.each([
  ['never_delivered', ['sent']],
  ['never_read', ['sent', 'delivered']],
  ['read_without_delivered', ['sent', 'read']],
  ['held_then_sent', ['sent', 'delivered', 'read']],
  ['held_then_dropped', ['failed']],
])('%s reports the statuses %j', async (name, expected) => {
  const { control, send, receiver } = await newWorld()
  const { id, body } = await send({ ...hello, to: numberFor(name) })
  await control.clock.advance(60_000)
  expect(receiver.statusesOf(id).map((status) => status.status)).toEqual(expected)
  const held = name.startsWith('held') ? 'held_for_quality_assessment' : 'accepted'
  expect(body.messages).toEqual([{ id, message_status: held }])
})

test('the wa_id can differ from the number in `to`', async () => {
  const { send, receiver } = await newWorld()
  const to = numberFor('other_wa_id')
  const { id, body } = await send({ ...hello, to })
  const [contact] = body.contacts as { input: string; wa_id: string }[]
  expect(contact?.input).toBe(to)
  expect(contact?.wa_id).not.toBe(to)
  expect(receiver.statusesOf(id)[0]?.recipient_id).toBe(contact?.wa_id)
  expect((await send({ ...hello, to: '+5531912345678' })).body.contacts).toEqual([
    { input: '+5531912345678', wa_id: '553112345678' },
  ])
})
