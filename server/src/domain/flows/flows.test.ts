import { type EventType, eventSchemas } from '@parley/contract/events'
import type { FlowResponse } from '@parley/contract/flow-response'
import type { List } from '@parley/contract/page'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { fixtures } from '../../../testing/fixtures.ts'
import { useForms } from '../../../testing/forms.ts'
import { eventsOf, newApp, newSender, signatureOf } from '../../../testing/network-app.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import type { Db } from '../../db/db.ts'
import { plainSchema } from '../../lib/field-errors.ts'
import { newUuid } from '../../lib/ids.ts'
import { readWebhook } from '../../whatsapp/incoming/incoming.ts'
import type { InboundItem } from '../../whatsapp/incoming/message.ts'
import { saveInbound } from '../messages/receiving/inbound.ts'
import { getFlowResponse } from './flows.ts'

const server = useTestServer()
const forms = useForms(server)

let people = 0
const newPhone = () => String(16_505_560_000 + ++people)

/** A sender with webhooks, without a simulated network. */
async function newNumber() {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15)))
  const submits = (nfm: object, more: object = {}) => {
    const message = {
      from: '16505550123',
      id: `wamid.${newUuid()}`,
      timestamp: '1786000000',
      type: 'interactive',
      interactive: { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent', ...nfm } },
      ...more,
    }
    const value = { metadata: { phone_number_id: sender.phoneNumberId }, messages: [message] }
    return app.post({
      object: 'whatsapp_business_account',
      entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
    })
  }
  const completed = async () =>
    (await eventsOf(server, workspace.id)).filter(({ type }) => type === 'flow.completed').map(({ data }) => data)
  return { workspace, app, sender, submits, completed }
}

test('a submitted form is published as message.received without text and as flow.completed, linked to the message it answers', async () => {
  const shop = await forms.newShop()
  const phone = newPhone()
  const message = await shop.sendForm(phone, 'claim-1001')
  const submission = await shop.fillForm(phone, { values: { full_name: 'Ana', age: 41 } })
  expect(submission).toEqual({
    id: expect.stringMatching(/^frs_/),
    message_id: expect.stringMatching(/^msg_/),
    from: phone,
    from_user_id: expect.any(String),
    flow_token: 'claim-1001',
    flow_id: shop.flowId,
    source_message_id: message.id,
    template_id: shop.templateId,
    response: { full_name: 'Ana', age: 41 },
    files: [],
    received_at: expect.stringMatching(/Z$/),
  })
  const events = (await eventsOf(server, shop.workspace.id)).filter(
    ({ data }) => data.message_id === submission.message_id,
  )
  expect(events.map(({ type }) => type)).toEqual(['message.received', 'flow.completed'])
  expect(events[0]?.data).toMatchObject({
    type: 'interactive',
    text: null,
    reply: null,
    in_reply_to: { message_id: message.id },
  })
  const validate = new Ajv2020({ strict: false }).compile(plainSchema(eventSchemas[events[1]?.type as EventType]))
  validate(events[1])
  expect(validate.errors).toBeNull()
  const { status, body } = await shop.workspace.call(`/v1/flow_responses/${submission.id}`)
  expect([status, body]).toEqual([200, { ...submission, object: 'flow_response', content_removed_at: null }])
})

test('a form returned without its token gets the token of the message it answers', async () => {
  const shop = await forms.newShop()
  const phone = newPhone()
  const message = await shop.sendForm(phone)
  const submission = await shop.fillForm(phone, { values: { a: '1' }, omitFlowToken: true })
  expect(submission).toMatchObject({
    source_message_id: message.id,
    flow_id: shop.flowId,
    template_id: shop.templateId,
  })
  expect(submission.flow_token).toMatch(/^flow_\w{24}$/)
})

test('a form sent without a template is linked to its message and flow', async () => {
  const shop = await forms.newShop()
  const phone = newPhone()
  const parameters = { flow_id: shop.flowId, flow_cta: 'Open', flow_token: 'mine', flow_action: 'data_exchange' }
  const interactive = { type: 'flow', body: { text: 'Please' }, action: { name: 'flow', parameters } }
  const { status, body } = await shop.send({ to: phone, type: 'interactive', interactive })
  expect([status, body]).toMatchObject([202, {}])
  await forms.sending.drain()
  expect(await shop.fillForm(phone, { values: {} })).toMatchObject({
    flow_token: 'mine',
    flow_id: shop.flowId,
    source_message_id: (body as { id: string }).id,
    template_id: null,
  })
})

test('without a quoted message, a form is linked by token: to the same person’s message, or to the only one with the token', async () => {
  const shop = await forms.newShop()
  const [ana, bea, cy] = [newPhone(), newPhone(), newPhone()]
  const toAna = await shop.sendForm(ana, 'campaign')
  const toBea = await shop.sendForm(bea, 'campaign')
  const only = await shop.sendForm(cy, 'only one')
  const [sender] = await server.db.rows<{ app_id: string; phone_number_id: string }>(
    'select app_id, phone_number_id from senders where workspace_id = $1',
    [shop.workspace.id],
  )
  const submit = async (from: string | { from_user_id: string }, token: string) => {
    const message = {
      ...(typeof from === 'string' ? { from } : from),
      id: `wamid.${newUuid()}`,
      timestamp: '1786000000',
      type: 'interactive',
      interactive: { type: 'nfm_reply', nfm_reply: { response_json: JSON.stringify({ flow_token: token }) } },
    }
    const value = { metadata: { phone_number_id: sender?.phone_number_id }, messages: [message] }
    const bytes = JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
    })
    const signature = signatureOf(shop.account.appSecret, bytes)
    const response = await fetch(`${server.url}/network/whatsapp/${sender?.app_id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': signature },
      body: bytes,
    })
    expect(response.status).toBe(200)
    return (await shop.completed()).at(-1)
  }
  expect(await submit(ana, 'campaign')).toMatchObject({ source_message_id: toAna.id })
  expect(await submit(bea, 'campaign')).toMatchObject({ source_message_id: toBea.id, template_id: shop.templateId })
  // Not sent to this person, and two messages have the token, so it could be either.
  expect(await submit(cy, 'campaign')).toMatchObject({ source_message_id: null, flow_id: null, flow_token: 'campaign' })
  // A person without a number.
  const template = { id: shop.templateId, flow: { token: 'campaign' } }
  const { body: hidden } = await shop.send({ to_user_id: 'US.77', type: 'template', template })
  const submitted = await submit({ from_user_id: 'US.77' }, 'campaign')
  expect(submitted).toMatchObject({ source_message_id: (hidden as { id: string }).id, from: null })
  // The network writes some numbers differently than they were dialed.
  expect(await submit('5511987654321', 'only one')).toMatchObject({ source_message_id: only.id })
})

test('an unknown token, no token and a token of another workspace give null links', async () => {
  const shop = await forms.newShop()
  const phone = newPhone()
  await shop.sendForm(phone, 'theirs')
  const { submits, completed } = await newNumber()
  for (const responses of [{ flow_token: 'unknown', a: 1 }, { a: 1 }, { flow_token: 'theirs', a: 1 }]) {
    expect(await submits({ response_json: JSON.stringify(responses) })).toBe(200)
  }
  const nulls = { flow_id: null, source_message_id: null, template_id: null, response: { a: 1 } }
  expect(await completed()).toMatchObject([
    { flow_token: 'unknown', ...nulls },
    { flow_token: null, ...nulls },
    { flow_token: 'theirs', ...nulls },
  ])
})

test('answers that are not a JSON object are published as response_json', async () => {
  const { workspace, submits, completed } = await newNumber()
  for (const raw of ['{not json', '[1,2]', '"x"']) await submits({ response_json: raw })
  await submits({ response_json: 7 })
  await submits({})
  expect((await completed()).map(({ response }) => response)).toEqual([
    { response_json: '{not json' },
    { response_json: '[1,2]' },
    { response_json: '"x"' },
    {},
    {},
  ])
  expect(((await workspace.call('/v1/flow_responses')).body as List<FlowResponse>).total).toBe(5)
})

test('a form with a typed escape, or a number that only text can hold, is stored', async () => {
  const { submits, completed } = await newNumber()
  for (const raw of [String.raw`{"a":"\\u0000"}`, '{"a":1e400000}', String.raw`{"a":"ends with \\"}`]) {
    expect(await submits({ response_json: raw }), raw).toBe(200)
  }
  expect(await completed()).toHaveLength(3)
})

test('a submission that the network repeats is stored and published once', async () => {
  const { workspace, submits, completed } = await newNumber()
  const form = { response_json: '{"a":1}' }
  await Promise.all(Array.from({ length: 10 }, () => submits(form, { id: 'wamid.SAME' })))
  await submits(form, { id: 'wamid.SAME' })
  expect(await completed()).toHaveLength(1)
  expect((await workspace.call('/v1/flow_responses')).body).toMatchObject({ total: 1 })
})

test('each form payload of the fixtures becomes one submission', async () => {
  const payloads = fixtures((value) => JSON.stringify(value).includes('"nfm_reply"'))
  expect(payloads.length).toBeGreaterThan(5)
  const responses: Record<string, unknown> = {}
  for (const [path, body] of payloads) {
    const { app, sender, completed } = await newNumber()
    const text = JSON.stringify(body).replace(/("phone_number_id":)"[^"]*"/, `$1"${sender.phoneNumberId}"`)
    expect(await app.post(text), path).toBe(200)
    const [one, ...more] = await completed()
    expect([one !== undefined, more.length], path).toEqual([true, 0])
    responses[path] = one?.response
  }
  expect(responses['own/nfm-reply-bad-json.json']).toEqual({ response_json: '{not json' })
  expect(responses['own/nfm-reply-address-message.json']).toMatchObject({ saved_address_id: 'a1' })
  expect(Object.keys(responses['own/nfm-reply-with-files.json'] as object)).toEqual(['claim_type', 'photos', 'docs'])
})

test('the list has filters and pages, and only the forms of its workspace', async () => {
  const { workspace, submits } = await newNumber()
  const other = await newNumber()
  await other.submits({ response_json: '{"theirs":1}' })
  for (let n = 0; n < 5; n++) {
    server.clock.forward({ seconds: 1 })
    const timestamp = String(1_786_000_000 + n)
    await submits({ response_json: `{"n":${n}}` }, { timestamp, from: `1650555000${n % 2}` })
  }
  const list = async (query: string) =>
    (await workspace.call(`/v1/flow_responses?${query}`)).body as List<FlowResponse & { response: { n: number } }>
  const numbers = ({ data }: Awaited<ReturnType<typeof list>>) => data.map(({ response }) => response.n)
  expect(numbers(await list(''))).toEqual([4, 3, 2, 1, 0])
  expect(numbers(await list('order=asc&from=%2B16505550001'))).toEqual([1, 3])
  expect(await list('flow_id=1')).toMatchObject({ total: 0, data: [] })
  const [after, before] = [1, 4].map((n) => new Date((1_786_000_000 + n) * 1000).toISOString())
  expect(numbers(await list(`received_after=${after}&received_before=${before}`))).toEqual([3, 2])
  const first = await list('limit=2')
  expect([numbers(first), first.total, first.has_more]).toEqual([[4, 3], 5, true])
  await submits({ response_json: '{"n":9}' })
  expect(numbers(await list(`limit=2&cursor=${first.next_cursor}`))).toEqual([2, 1])
  for (const query of ['received_after=2026-02-31T99:00Z', 'received_after=soon', 'from=x', 'flow=1', 'limit=0']) {
    expect((await workspace.call(`/v1/flow_responses?${query}`)).status, query).toBe(400)
  }
  const { data } = (await other.workspace.call('/v1/flow_responses')).body as List<FlowResponse>
  const theirs = data[0]?.id as string
  for (const id of [theirs, `frs_${newUuid()}`, 'frs_x', newUuid()]) {
    expect((await workspace.call(`/v1/flow_responses/${id}`)).status, id).toBe(404)
  }
  await expect(getFlowResponse(server.db.within(workspace.id), workspace.id, theirs)).rejects.toThrow('Not found')
  await expect(getFlowResponse(server.db.within(workspace.id), other.workspace.id, theirs)).rejects.toThrow('Not found')
  const { secret } = await workspace.newKey({ scopes: ['messages:read'] })
  expect((await server.call('/v1/flow_responses', { key: secret })).status).toBe(403)
})

test('a batch without forms or carts needs no additional statements', async () => {
  const { workspace, sender } = await newNumber()
  const destination = { ...sender, senderId: sender.id, workspaceId: workspace.id, appId: '' }
  const statementsFor = async (...contents: object[]) => {
    const statements: string[] = []
    const messages = contents.map((content) => ({ from: '16505550123', id: `wamid.${newUuid()}`, ...content }))
    const value = { metadata: { phone_number_id: sender.phoneNumberId }, messages }
    const entry = [{ id: '1', changes: [{ field: 'messages', value }] }]
    const items = readWebhook({ object: 'whatsapp_business_account', entry }, server.clock.now()) as InboundItem[]
    await server.db.transaction((tx) => {
      const record = (text: string) => {
        statements.push(text)
        return text
      }
      const recording: Db = {
        ...tx,
        rows: (text, values) => tx.rows(record(text), values),
        first: (text, values) => tx.first(record(text), values),
        change: (text, values) => tx.change(record(text), values),
      }
      return saveInbound(
        recording,
        server.clock.now(),
        items.map((item) => ({ item, destination })),
        'http://parley.test',
      )
    })
    return statements
  }
  const text = { type: 'text', text: { body: 'hola' } }
  const form = (responses: object) => ({
    type: 'interactive',
    interactive: { type: 'nfm_reply', nfm_reply: { response_json: JSON.stringify(responses) } },
  })
  const files = { photos: [{ id: '1', mime_type: 'image/png' }] }
  const withTextOnly = await statementsFor(text, text)
  expect(withTextOnly).toHaveLength(1)
  expect(await statementsFor(text, form({ a: 1 }), form({ a: 2 }))).toHaveLength(withTextOnly.length + 2)
  expect(await statementsFor(form(files), form(files), text)).toHaveLength(withTextOnly.length + 3)
})
