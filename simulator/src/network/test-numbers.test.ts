import { expect, test } from 'vitest'
import { hello, newWorld, numberId, text } from '../testing/world.ts'
import { knownCodes } from './error-catalogue.ts'
import { simulatedFailures, testNumberOf } from './test-numbers.ts'

const async = [
  131026, 131047, 131049, 131050, 130472, 131053, 131052, 131042, 131051, 131036, 137000, 130429, 131000, 132015,
]

test.each(async)('1555 0 %i is accepted and then fails with that code', async (code) => {
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

test('every known code can be had as a refusal, with the status of the network’s table', async () => {
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

test('1555 2 passes on the second try, 1555 3 on the third', async () => {
  const { send } = await newWorld()
  const statuses = async (to: string) => [
    (await send({ ...hello, to })).status,
    (await send({ ...hello, to })).status,
    (await send({ ...hello, to })).status,
  ]
  expect(await statuses('15552131000')).toEqual([500, 200, 500])
  expect(await statuses('15553131000')).toEqual([500, 500, 200])
})

test('everybody’s test numbers are ordinary phones', () => {
  for (const number of ['15550000001', '15550780001', '15551234567', '15559999999', '16505550123'])
    expect(testNumberOf(number)).toBeUndefined()
})

const mishapNumber = (name: string) =>
  `1555900000${simulatedFailures.find(([, mishap]) => mishap === name)?.[0]}`.replace(
    /^(1555900000)(\d\d)$/,
    '155590000$2',
  )

test('a call may hang or be cut although the message was sent', async () => {
  const { simulator, control, receiver } = await newWorld()
  const call = (to: string) =>
    fetch(`${simulator.url}/v25.0/${numberId}/messages`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-access-token', 'content-type': 'application/json' },
      body: JSON.stringify({ messaging_product: 'whatsapp', to, ...hello, biz_opaque_callback_data: to }),
      signal: AbortSignal.timeout(150),
    })
  const [hangs, cutAfter, cutBefore] = ['hangs_after_sending', 'cut_after_sending', 'cut_before_sending'].map(
    mishapNumber,
  ) as [string, string, string]
  await expect(call(hangs)).rejects.toThrow(/timeout/)
  await expect(call(cutAfter)).rejects.toThrow(/fetch failed/)
  await expect(call(cutBefore)).rejects.toThrow(/fetch failed/)
  await control.idle()
  expect(receiver.statuses().map((status) => status.biz_opaque_callback_data)).toEqual([hangs, cutAfter])
})

test('HTTP 500 with a page of HTML, before and after sending', async () => {
  const { simulator, control, receiver } = await newWorld()
  for (const name of ['html_500', 'html_500_after_sending']) {
    const response = await fetch(`${simulator.url}/v25.0/${numberId}/messages`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-access-token', 'content-type': 'application/json' },
      body: JSON.stringify({
        messaging_product: 'whatsapp',
        to: mishapNumber(name),
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

test('a status may be taken before the call is answered', async () => {
  const { control, receiver, simulator } = await newWorld()
  const call = fetch(`${simulator.url}/v25.0/${numberId}/messages`, {
    method: 'POST',
    headers: { authorization: 'Bearer demo-access-token', 'content-type': 'application/json' },
    body: JSON.stringify({ messaging_product: 'whatsapp', to: mishapNumber('status_before_answer'), ...hello }),
  }).then((response) => ({ response, statusesThen: receiver.statuses().length }))
  expect(await call).toMatchObject({ statusesThen: 1 })
  await control.idle()
})

test('a slow answer comes after five seconds', async () => {
  const { control, send } = await newWorld()
  let isAnswered = false
  const call = send({ ...hello, to: mishapNumber('slow_answer') }).then((answer) => {
    isAnswered = true
    return answer
  })
  await expect.poll(() => control.phones.messages(mishapNumber('slow_answer')).length).toBe(1)
  await control.clock.advance(4_999)
  expect(isAnswered).toBe(false)
  await control.clock.advance(1)
  expect((await call).status).toBe(200)
})

test.each([
  ['never_delivered', ['sent']],
  ['never_read', ['sent', 'delivered']],
  ['read_without_delivered', ['sent', 'read']],
  ['held_then_sent', ['sent', 'delivered', 'read']],
  ['held_then_dropped', ['failed']],
])('%s reports %j', async (name, expected) => {
  const { control, send, receiver } = await newWorld()
  const { id, body } = await send({ ...hello, to: mishapNumber(name) })
  await control.clock.advance(60_000)
  expect(receiver.statusesOf(id).map((status) => status.status)).toEqual(expected)
  const held = name.startsWith('held') ? 'held_for_quality_assessment' : 'accepted'
  expect(body.messages).toEqual([{ id, message_status: held }])
})

test('the network may know a phone by another number than the one dialled', async () => {
  const { send, receiver } = await newWorld()
  const dialled = mishapNumber('other_wa_id')
  const { id, body } = await send({ ...hello, to: dialled })
  const [contact] = body.contacts as { input: string; wa_id: string }[]
  expect(contact?.input).toBe(dialled)
  expect(contact?.wa_id).not.toBe(dialled)
  expect(receiver.statusesOf(id)[0]?.recipient_id).toBe(contact?.wa_id)
  expect((await send({ ...hello, to: '+5531912345678' })).body.contacts).toEqual([
    { input: '+5531912345678', wa_id: '553112345678' },
  ])
})
