import { eventSchemas, eventTypes, WebhookTest } from '@parley/contract/events'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { newBrowser, signedIn } from '../../../testing/console.ts'
import { newLine, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { plainSchema } from '../../lib/field-errors.ts'
import { hintOf } from '../webhooks/secret.ts'
import { requireWebhook, saveWebhook } from '../webhooks/webhooks.ts'
import { limitEndpoints } from '../workspaces/workspaces.ts'
import { listConsoleDeliveries } from './reading/list.ts'

const server = useTestServer()
const deliveries = useDeliveryWorker(server)
const newReceiver = useReceivers()
const drain = () => deliveries.worker.drain()

const post = (body: unknown = {}) => ({ method: 'POST', body })

async function setUp(hasEndpoint = true) {
  const line = await newLine(server)
  const receiver = await newReceiver()
  const endpoint = hasEndpoint ? await line.listen(receiver) : { id: '', secret: '' }
  const { id: workspaceId } = line.workspace
  const admin = await signedIn(server, { workspaceId, role: 'admin' })
  const at = (path: string) => `/w/${workspaceId}${path}`
  const get = async (path: string) => (await admin.call(at(path))).body
  /** Signs in again after the session has expired. */
  const signInAgain = () => admin.call('/sign-in', post({ email: admin.email, password: admin.password }))
  return { line, receiver, endpoint, admin, at, get, signInAgain, workspaceId }
}

const auditEntriesOf = (workspaceId: string) =>
  server.db.rows<{ action: string; target: string | null; before: unknown; after: unknown }>(
    `select action, target, before, after from audit_entries
     where workspace_id = $1 and (action like 'webhook.%' or action like 'delivery.%') order by at, id`,
    [workspaceId],
  )

/** Lets the whole retry schedule pass. A failing endpoint gets one attempt every two seconds. */
async function exhaustRetries() {
  for (const seconds of [2, 10, 60, 300, 1800, 7200, 21_600]) {
    server.clock.forward({ seconds })
    await drain()
    server.clock.forward({ seconds: 2 })
    await drain()
  }
}

test('an endpoint is created, changed, rotated and deleted, and its secret is shown only when it is created or rotated', async () => {
  const { receiver, admin, at, get, workspaceId } = await setUp(false)
  const input = { name: 'Shop', url: receiver.url, events: ['message.received'] }
  const made = await admin.call(at('/webhooks'), post(input))
  expect(made).toMatchObject({ status: 201, body: { webhook: input, secret: expect.stringMatching(/^whsec_/) } })
  const { webhook, secret } = made.body
  expect(await get('/webhooks')).toMatchObject({
    total: 1,
    data: [
      {
        ...input,
        id: webhook.id,
        state: 'enabled',
        held: { count: 0, more: false },
        recent: { attempts: 0, p95_ms: null },
      },
    ],
  })
  const changed = await admin.call(at(`/webhooks/${webhook.id}`), {
    method: 'PATCH',
    body: { events: ['message.read', 'message.received'] },
  })
  expect(changed).toMatchObject({ status: 200, body: { name: 'Shop', events: ['message.read', 'message.received'] } })
  const rotated = await admin.call(at(`/webhooks/${webhook.id}/rotate`), post())
  expect(rotated.body.secret).not.toBe(secret)
  expect(rotated.body.webhook.secret_hint).not.toBe(webhook.secret_hint)
  const staged = await admin.call(at(`/webhooks/${webhook.id}/rotate`), post({ staged: true }))
  expect(staged.body.webhook.secret_hint).toBe(rotated.body.webhook.secret_hint)
  const pending = await get(`/webhooks/${webhook.id}`)
  expect(pending.staged_secret_hint).toBe(hintOf(staged.body.secret))
  const cancelled = await admin.call(at(`/webhooks/${webhook.id}/cancel_rotation`), post())
  expect(cancelled.body.staged_secret_hint).toBeNull()
  expect((await admin.call(at(`/webhooks/${webhook.id}/activate`), post())).status).toBe(400)
  const again = await admin.call(at(`/webhooks/${webhook.id}/rotate`), post({ staged: true }))
  const activated = await admin.call(at(`/webhooks/${webhook.id}/activate`), post())
  expect(activated.body).toMatchObject({ secret_hint: hintOf(again.body.secret), staged_secret_hint: null })
  expect((await admin.call(at(`/webhooks/${webhook.id}`), { method: 'DELETE' })).status).toBe(204)
  expect((await admin.call(at(`/webhooks/${webhook.id}`))).status).toBe(404)
  const entries = await auditEntriesOf(workspaceId)
  expect(entries).toMatchObject([
    { action: 'webhook.create', target: webhook.id, after: input },
    { action: 'webhook.change', before: { events: ['message.received'] } },
    { action: 'webhook.rotate', before: { secret_hint: webhook.secret_hint } },
    { action: 'webhook.stage_secret', after: { staged_secret_hint: hintOf(staged.body.secret) } },
    { action: 'webhook.cancel_rotation', before: { staged_secret_hint: hintOf(staged.body.secret) } },
    { action: 'webhook.stage_secret', target: webhook.id },
    { action: 'webhook.activate_secret', after: { secret_hint: hintOf(again.body.secret) } },
    { action: 'webhook.delete', target: webhook.id },
  ])
  for (const hidden of [secret, rotated.body.secret, staged.body.secret, again.body.secret])
    expect(JSON.stringify(entries)).not.toContain(hidden)
})

test('a change that was checked before another one was saved is refused, and does not undo it', async () => {
  const { receiver, admin, at } = await setUp(false)
  const input = { name: 'Shop', url: receiver.url, events: ['message.received'] }
  const { id } = (await admin.call(at('/webhooks'), post(input))).body.webhook
  const before = await requireWebhook(server.db, id)
  const moved = { method: 'PATCH', body: { url: `${receiver.url}moved` } }
  expect((await admin.call(at(`/webhooks/${id}`), moved)).status).toBe(200)
  const checked = { ...input, name: 'Till', senders: null, ordering: 'none' as const }
  await expect(saveWebhook(server.db, server.clock, () => server.secretKeys, before, checked)).rejects.toThrow(
    'Load it again',
  )
  expect((await requireWebhook(server.db, id)).webhook).toMatchObject({ name: 'Shop', url: `${receiver.url}moved` })
})

test('an invalid endpoint gets an error for each field', async () => {
  const { admin, at, endpoint, workspaceId } = await setUp()
  const wrong = await admin.call(at('/webhooks'), post({ name: '', url: 'http://10.0.0.1/hook', events: ['nothing'] }))
  expect(wrong.status).toBe(400)
  expect(wrong.body.error.errors.map((fault: { param: string }) => fault.param)).toEqual(['name', 'url', 'events'])
  const change = { method: 'PATCH', body: { url: 'ftp://example.com' } }
  expect((await admin.call(at(`/webhooks/${endpoint.id}`), change)).body.error.param).toBe('url')
  expect((await admin.call(at(`/webhooks/${endpoint.id}/disable`), post({ reason: ' ' }))).body.error.param).toBe(
    'reason',
  )
  expect((await admin.call(at(`/webhooks/${endpoint.id}/test`), post({ type: 'webhook.test' }))).status).toBe(400)
  expect(await auditEntriesOf(workspaceId)).toEqual([])
})

test('a workspace at its limit gets a clear error, until an endpoint is deleted or the limit is raised', async () => {
  const { receiver, admin, at, endpoint, workspaceId } = await setUp()
  await limitEndpoints(server.db, workspaceId, 3)
  const input = { name: 'Shop', url: receiver.url, events: ['message.received'] }
  const made = await Promise.all([1, 2, 3, 4].map(() => admin.call(at('/webhooks'), post(input))))
  expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400])
  const refused = made.find(({ status }) => status === 400)
  expect(refused?.body.error).toMatchObject({
    errors: [{ param: 'webhooks', code: 'too_many', message: expect.stringContaining('its limit of 3 webhooks') }],
  })
  expect((await admin.call(at(`/webhooks/${endpoint.id}`), { method: 'DELETE' })).status).toBe(204)
  expect((await admin.call(at('/webhooks'), post(input))).status).toBe(201)
  expect((await admin.call(at('/webhooks'), post(input))).status).toBe(400)
  await limitEndpoints(server.db, workspaceId, 4)
  expect((await admin.call(at('/webhooks'), post(input))).status).toBe(201)
})

test('a disabled endpoint shows its reason and its held deliveries, which it gets when it is enabled', async () => {
  const { line, receiver, endpoint, admin, at, get, workspaceId } = await setUp()
  const disabled = await admin.call(at(`/webhooks/${endpoint.id}/disable`), post({ reason: 'moving servers' }))
  expect(disabled.body).toMatchObject({ state: 'disabled', disabled_reason: 'moving servers' })
  await line.write(3)
  await drain()
  expect(await get(`/webhooks/${endpoint.id}`)).toMatchObject({ held: { count: 3, more: false }, enabled: false })
  expect((await get('/deliveries?state=held')).data).toHaveLength(3)
  const heldSince = server.clock.now().toISOString()
  server.clock.forward({ minutes: 5 })
  const held = (await get('/deliveries?state=held')).data[0]
  expect(held).toMatchObject({ attempt: 0, next_attempt_at: null, held_since: heldSince })
  expect((await get('/deliveries?type=message.received')).data[0]).toMatchObject({ held_since: heldSince })
  expect(await get(`/deliveries/${held.event_id}/${endpoint.id}`)).toMatchObject({
    state: 'held',
    held_since: heldSince,
    webhook_enabled: false,
    disabled_reason: 'moving servers',
    ahead: [],
    tries: [],
  })
  const enabled = await admin.call(at(`/webhooks/${endpoint.id}/enable`), post())
  expect(enabled.body).toMatchObject({ state: 'enabled', disabled_reason: null, held: { count: 0 } })
  await drain()
  expect(receiver.received).toHaveLength(3)
  expect((await auditEntriesOf(workspaceId)).map(({ action }) => action)).toEqual(['webhook.disable', 'webhook.enable'])
})

test('an endpoint shows its success rate, its p95 and that it is failing', async () => {
  const { line, receiver, endpoint, get } = await setUp()
  receiver.next(200, 200, 200, 500, 500)
  await line.write(3)
  await drain()
  receiver.behave(500)
  await line.write()
  await drain()
  server.clock.forward({ seconds: 10 })
  await drain()
  const shown = await get(`/webhooks/${endpoint.id}`)
  expect(shown).toMatchObject({
    state: 'failing',
    failures: 3,
    failures_max: 20,
    waiting: { count: 1 },
    recent: { attempts: 6, succeeded: 3, p95_ms: expect.any(Number) },
    last_attempt_at: server.clock.now().toISOString(),
  })
  expect(shown.failing_since).not.toBeNull()
  const inAMinute = new Date(server.clock.now().getTime() + 60_000)
  expect(shown.next_attempt_at).toBe(inAMinute.toISOString())
  await line.write(5)
  await drain()
  // From the fifth failure on, the next attempt is made two seconds after the last one.
  const inTwoSeconds = new Date(server.clock.now().getTime() + 2_000)
  expect((await get(`/webhooks/${endpoint.id}`)).next_attempt_at).toBe(inTwoSeconds.toISOString())
})

test('GET a delivery returns the body, each attempt with its response and error, and the upcoming attempts', async () => {
  const { line, receiver, endpoint, get } = await setUp()
  const cookie = { 'Set-Cookie': 'session=s3cret; HttpOnly', 'X-Trace': 'abc' }
  receiver.next((response) => response.writeHead(401, cookie).end('<b>bad signature</b>'), 500)
  await line.write()
  await drain()
  const listed = (await get('/deliveries')).data[0]
  expect(listed).toMatchObject({
    webhook_id: endpoint.id,
    webhook_name: 'receiver',
    event_type: 'message.received',
    state: 'retrying',
    attempts: 2,
    last_status: 500,
    last_error: 'http',
  })
  const detail = await get(`/deliveries/${listed.event_id}/${endpoint.id}`)
  const began = server.clock.now().getTime()
  const inSeconds = (seconds: number) => new Date(began + seconds * 1000).toISOString()
  const signaturesOf = (index: number) => ({
    service_signature: receiver.received[index]?.headers['service-signature'],
    webhook_signature: receiver.received[index]?.headers['webhook-signature'],
  })
  expect(JSON.stringify(detail)).not.toContain('s3cret')
  expect(detail).toMatchObject({
    state: 'retrying',
    under_way: false,
    body: receiver.received[0]?.body,
    webhook_url: receiver.url,
    message_id: JSON.parse(receiver.received[0]?.body ?? '').data.message_id,
    attempts: 2,
    attempt: 2,
    attempts_max: 8,
    custom_headers: [],
    next_attempt_at: inSeconds(10),
    tries: [
      {
        number: 1,
        trigger: 'first',
        status: 401,
        error: 'http',
        address: '127.0.0.1',
        response_body: '<b>bad signature</b>',
        response_body_bytes: 20,
        response_body_cut: false,
        response_headers: expect.stringMatching(/^Set-Cookie: session=\(not stored\)\nX-Trace: abc\n/),
        signatures: signaturesOf(0),
        trouble: { title: 'The endpoint returned 401.', remedy: expect.stringContaining('signing secret') },
      },
      {
        number: 2,
        trigger: 'retry',
        status: 500,
        response_body: 'response 500',
        state: 'retrying',
        signatures: signaturesOf(1),
      },
    ],
    ahead: [
      { number: 3, at: inSeconds(10) },
      { number: 4, at: inSeconds(70) },
      { number: 5, at: inSeconds(370) },
      { number: 6, at: inSeconds(2170) },
      { number: 7, at: inSeconds(9370) },
      { number: 8, at: inSeconds(30_970) },
    ],
  })
  server.clock.forward({ seconds: 10 })
  await drain()
  expect(await get(`/deliveries/${listed.event_id}/${endpoint.id}`)).toMatchObject({
    state: 'delivered',
    next_attempt_at: null,
    ahead: [],
    tries: [{}, {}, { number: 3, state: 'delivered', trouble: null, status: 200 }],
  })
})

test('a long response is truncated, and a response that is not UTF-8 is shown with replacement characters', async () => {
  const { line, receiver, endpoint, get } = await setUp()
  receiver.next((response) => response.writeHead(200).end(Buffer.alloc(40_000, 0xff)))
  await line.write()
  await drain()
  const { event_id } = (await get('/deliveries')).data[0]
  const [attempt] = (await get(`/deliveries/${event_id}/${endpoint.id}`)).tries
  expect(attempt).toMatchObject({ response_body_bytes: 16_384, response_body_cut: true })
  expect(attempt.response_body).toMatch(/^\uFFFD+$/)
})

test('a person retries one delivery, several, and all that failed since a time', async () => {
  const { line, receiver, endpoint, admin, at, get, signInAgain, workspaceId } = await setUp()
  receiver.behave(500)
  const since = server.clock.now().toISOString()
  await line.write(2)
  await drain()
  await exhaustRetries()
  // Without a success in between, the endpoint would be disabled before the third delivery has failed permanently.
  receiver.next(200)
  await line.write()
  await drain()
  await line.write()
  await drain()
  await exhaustRetries()
  await signInAgain()
  const failed = (await get('/deliveries?state=failed')).data
  expect(failed).toHaveLength(3)
  expect(failed[0]).toMatchObject({ attempts: 8, next_attempt_at: null })
  receiver.behave(200)
  server.clock.forward({ seconds: 1 })
  const [first, second, third] = failed
  const one = await admin.call(at(`/deliveries/${first.event_id}/${endpoint.id}/retry`), post())
  expect(one).toMatchObject({ status: 202, body: { retried: 1 } })
  await drain()
  expect(await get(`/deliveries/${first.event_id}/${endpoint.id}`)).toMatchObject({ state: 'delivered', attempts: 9 })
  server.clock.forward({ seconds: 1 })
  const requested = [first, second, second].map(({ event_id, webhook_id }) => ({ event_id, webhook_id }))
  const several = await admin.call(at('/deliveries/retry'), post({ deliveries: requested }))
  expect(several).toMatchObject({ status: 202, body: { retried: 2 } })
  await drain()
  server.clock.forward({ seconds: 1 })
  expect((await get('/deliveries?state=failed')).data).toMatchObject([{ event_id: third.event_id }])
  const all = await admin.call(at(`/webhooks/${endpoint.id}/recover`), post({ since }))
  expect(all).toMatchObject({ status: 202, body: { retried: 1 } })
  await drain()
  expect((await get('/deliveries?state=failed')).data).toEqual([])
  expect((await get('/deliveries?state=delivered')).data).toHaveLength(4)
  expect((await auditEntriesOf(workspaceId)).map(({ action }) => action)).toEqual([
    'delivery.retry',
    'delivery.retry_many',
    'webhook.recover',
  ])
  expect((await admin.call(at('/deliveries/retry'), post({ deliveries: [] }))).status).toBe(400)
  expect((await admin.call(at(`/webhooks/${endpoint.id}/recover`), post({ since: 'yesterday' }))).status).toBe(400)
})

test('a test event has the type webhook.test with an example, goes to this endpoint only, and is attempted once', async () => {
  const { line, receiver, endpoint, admin, at, get } = await setUp()
  const other = await newReceiver()
  await line.listen(other)
  const ajv = new Ajv({ strict: false })
  for (const type of eventTypes) {
    const sent = await admin.call(at(`/webhooks/${endpoint.id}/test`), post({ type }))
    expect(sent.status).toBe(202)
    await drain()
    const got = receiver.received.at(-1)
    expect(got?.headers['service-event']).toBe('webhook.test')
    const event = JSON.parse(got?.body ?? '')
    expect(event).toMatchObject({ id: sent.body.event_id, type: 'webhook.test' })
    expect(event.data).toEqual({ test: true, example_of: type, example: expect.any(Object) })
    expect(ajv.validate(plainSchema(WebhookTest), event), JSON.stringify(ajv.errors)).toBe(true)
    const example = { ...event, type, data: event.data.example }
    expect(ajv.validate(plainSchema(eventSchemas[type]), example), JSON.stringify(ajv.errors)).toBe(true)
    expect(await get(`/deliveries/${event.id}/${endpoint.id}`)).toMatchObject({
      state: 'delivered',
      message_id: null,
      attempt: 1,
      attempts_max: 1,
      tries: [{ number: 1, trigger: 'manual', status: 200, response_body: 'response 200' }],
    })
  }
  expect(other.received).toEqual([])
  receiver.behave(500)
  const { event_id } = (await admin.call(at(`/webhooks/${endpoint.id}/test`), post({ type: 'message.sent' }))).body
  const path = `/deliveries/${event_id}/${endpoint.id}`
  const now = server.clock.now().toISOString()
  expect(await get(path)).toMatchObject({ state: 'pending', attempt: 0, ahead: [{ number: 1, at: now }] })
  await drain()
  await exhaustRetries()
  expect(receiver.received.filter(({ id }) => id === event_id)).toHaveLength(1)
  // A manual retry of a test event is one attempt too.
  expect((await admin.call(at(`${path}/retry`), post())).status).toBe(202)
  await drain()
  await exhaustRetries()
  const detail = await get(path)
  expect(detail).toMatchObject({ state: 'failed', attempts: 2, attempt: 1, attempts_max: 1, ahead: [] })
  expect(detail.tries.map(({ number }: { number: number }) => number)).toEqual([1, 1])
})

test('GET /deliveries filters by endpoint, state, type, event and time, and pages neither skip nor repeat deliveries', async () => {
  const { line, receiver, endpoint, admin, at, get } = await setUp()
  const other = await line.listen(await newReceiver(), ['message.received'])
  await line.write(4)
  await drain()
  server.clock.forward({ seconds: 5 })
  const later = server.clock.now().toISOString()
  receiver.behave(500)
  await line.write(3)
  await drain()
  const everything = (await get('/deliveries')).data as { event_id: string; webhook_id: string; state: string }[]
  expect(everything).toHaveLength(14)
  expect((await get(`/deliveries?webhook=${other.id}`)).data).toHaveLength(7)
  expect((await get('/deliveries?state=waiting')).data).toHaveLength(3)
  expect((await get('/deliveries?state=delivered')).data).toHaveLength(11)
  expect((await get(`/deliveries?since=${later}`)).data).toHaveLength(6)
  expect((await get(`/deliveries?until=${later}&webhook=${endpoint.id}&state=delivered`)).data).toHaveLength(4)
  expect((await get('/deliveries?type=message.received')).data).toHaveLength(14)
  expect(await get('/deliveries?type=message.read')).toMatchObject({ data: [], has_more: false })
  const event = everything[0]?.event_id
  expect((await get(`/deliveries?event=${event}`)).data.map((each: { event_id: string }) => each.event_id)).toEqual([
    event,
    event,
  ])
  expect((await get('/deliveries?event=nonsense')).data).toEqual([])
  for (const filter of ['', '&type=message.received', '&state=delivered']) {
    const all = (await get(`/deliveries?limit=100${filter}`)).data
    const paged: unknown[] = []
    let cursor = ''
    do {
      const page = await get(`/deliveries?limit=3${filter}${cursor && `&cursor=${cursor}`}`)
      paged.push(...page.data)
      cursor = page.next_cursor
    } while (cursor)
    expect(paged).toEqual(all)
  }
  for (const [filter, total] of [
    [`since=${later}&state=waiting`, 3],
    [`since=${later}&state=delivered`, 3],
    [`until=${later}&state=delivered&event=${event}`, 1],
    [`since=${later}&state=failed`, 0],
  ] as const) {
    expect(await get(`/deliveries/total?${filter}`), filter).toEqual({ total, total_is_exact: true })
  }
  for (const wrong of ['cursor=nonsense', 'state=lost', 'since=noon', 'limit=0', `webhook=${event}`]) {
    expect((await admin.call(at(`/deliveries?${wrong}`))).status, wrong).toBe(400)
  }
})

test('a delivery that ends while the list is read is in it once, with its result', async () => {
  const { line, receiver, workspaceId } = await setUp()
  await line.write(2)
  const db = server.db.within(workspaceId)
  let before: Promise<unknown> = Promise.resolve()
  // One statement at a time, and between them deliveries are made.
  const slow = Object.assign(Object.create(db) as typeof db, {
    transaction<T>(run: Parameters<typeof db.transaction<T>>[0]) {
      const reading = before.then(() => db.transaction(run))
      before = reading.then(drain)
      return reading
    },
  })
  const { data } = await listConsoleDeliveries(slow, workspaceId, {})
  expect(data.map(({ event_id, state }) => `${event_id} ${state}`).sort()).toEqual(
    receiver.received.map(({ id }) => `${id} delivered`).sort(),
  )
  expect(data).toHaveLength(2)
})

test('developers can test, retry and enable, only admins can change endpoints, members see nothing', async () => {
  const { line, endpoint, admin, at, get, workspaceId, receiver } = await setUp()
  await line.write()
  await drain()
  const developer = await signedIn(server, { workspaceId, role: 'developer' })
  const member = await signedIn(server, { workspaceId, role: 'member' })
  const { event_id } = (await get('/deliveries')).data[0]
  const one = `/deliveries/${event_id}/${endpoint.id}`
  const hook = `/webhooks/${endpoint.id}`
  for (const path of ['/webhooks', hook, '/deliveries', one]) {
    expect((await developer.call(at(path))).status).toBe(200)
    expect((await member.call(at(path))).body.error.code).toBe('not_permitted')
    expect((await newBrowser(server.url).call(at(path))).status).toBe(401)
  }
  const forDevelopers: [string, unknown][] = [
    [`${hook}/test`, { type: 'message.read' }],
    [`${hook}/recover`, { since: server.clock.now().toISOString() }],
    [`${one}/retry`, {}],
    ['/deliveries/retry', { deliveries: [{ event_id, webhook_id: endpoint.id }] }],
  ]
  for (const [path, body] of forDevelopers) {
    expect((await member.call(at(path), post(body))).body.error.code).toBe('not_permitted')
    expect((await developer.call(at(path), post(body))).status).toBe(202)
  }
  const forAdmins: [string, string, unknown, boolean][] = [
    ['POST', '/webhooks', { name: 'x', url: receiver.url, events: ['message.read'] }, true],
    ['PATCH', hook, { name: 'y' }, false],
    ['POST', `${hook}/rotate`, {}, true],
    ['POST', `${hook}/activate`, {}, true],
    ['POST', `${hook}/disable`, { reason: 'x' }, false],
    ['DELETE', hook, undefined, true],
  ]
  for (const [method, path, body] of forAdmins) {
    for (const person of [developer, member]) {
      expect((await person.call(at(path), { method, body })).body.error.code).toBe('not_permitted')
    }
  }
  server.clock.forward({ minutes: 11 })
  for (const [method, path, body, confirmed] of forAdmins) {
    const response = await admin.call(at(path), { method, body })
    if (confirmed) expect(response.body.error.code).toBe('confirmation_required')
    else expect(response.status).toBe(200)
  }
  expect((await member.call(at(`${hook}/enable`), post())).body.error.code).toBe('not_permitted')
  expect((await developer.call(at(`${hook}/enable`), post())).body).toMatchObject({ state: 'enabled' })
  expect((await developer.call(at(`${hook}/cancel_rotation`), post())).body.error.code).toBe('not_permitted')
})

test('endpoints and deliveries of another workspace get the same 404 as unknown ones, and are not changed', async () => {
  const mine = await setUp()
  const theirs = await setUp()
  await theirs.line.write()
  await drain()
  const { event_id } = (await theirs.get('/deliveries')).data[0]
  const unknown = { hook: 'whk_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d', event: '0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d' }
  const requests = (hook: string, event: string): [string, string, unknown][] => [
    ['GET', `/webhooks/${hook}`, undefined],
    ['PATCH', `/webhooks/${hook}`, { name: 'mine now' }],
    ['DELETE', `/webhooks/${hook}`, undefined],
    ['POST', `/webhooks/${hook}/rotate`, {}],
    ['POST', `/webhooks/${hook}/rotate`, { staged: true }],
    ['POST', `/webhooks/${hook}/activate`, {}],
    ['POST', `/webhooks/${hook}/cancel_rotation`, {}],
    ['POST', `/webhooks/${hook}/enable`, {}],
    ['POST', `/webhooks/${hook}/disable`, { reason: 'x' }],
    ['POST', `/webhooks/${hook}/test`, { type: 'message.read' }],
    ['POST', `/webhooks/${hook}/recover`, { since: '2020-01-01T00:00:00.000Z' }],
    ['GET', `/deliveries?webhook=${hook}`, undefined],
    ['GET', `/deliveries/${event}/${hook}`, undefined],
    ['GET', `/deliveries/${event}/${mine.endpoint.id}`, undefined],
    ['POST', `/deliveries/${event}/${hook}/retry`, {}],
    ['POST', `/deliveries/${event}/${mine.endpoint.id}/retry`, {}],
  ]
  const unknownRequests = requests(unknown.hook, unknown.event)
  for (const [index, [method, path, body]] of requests(theirs.endpoint.id, event_id).entries()) {
    const foreignResponse = await mine.admin.call(mine.at(path), { method, body })
    const unknownResponse = await mine.admin.call(mine.at(unknownRequests[index]?.[1] ?? ''), { method, body })
    const withoutRequestId = ({ status, body }: typeof foreignResponse) => ({ status, ...body.error, request_id: '' })
    expect(withoutRequestId(foreignResponse), path).toEqual(withoutRequestId(unknownResponse))
    expect(foreignResponse.status, path).toBe(404)
  }
  const pairs = { deliveries: [{ event_id, webhook_id: theirs.endpoint.id }] }
  expect((await mine.admin.call(mine.at('/deliveries/retry'), post(pairs))).body).toEqual({ retried: 0, more: false })
  expect((await mine.get('/deliveries')).data).toEqual([])
  await drain()
  expect(theirs.receiver.received).toHaveLength(1)
})
