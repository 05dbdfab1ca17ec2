import { storedErrorsPerMinute } from '@parley/contract/console/inspector'
import type { RequestDetail } from '@parley/contract/console/requests'
import { expect, test } from 'vitest'
import { type SignedInPerson, signedIn } from '../../../../testing/console.ts'
import { loggedRequest } from '../../../../testing/log.ts'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { mayDeleteOld } from '../../../db/retention.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import { maintenanceSteps } from '../../../work.ts'
import { eraseDue } from '../../privacy/erase.ts'

const server = useTestServer()
const sending = useSending(server)
const phone = '16505557001'
const quiet = newLogger('silent')

const turn = async (admin: SignedInPerson, workspaceId: string, isOn: boolean) => {
  const { status } = await admin.call(`/w/${workspaceId}/settings`, {
    method: 'PATCH',
    body: { request_inspector: isOn },
  })
  expect(status).toBe(200)
}

async function setUp({ isOn = true } = {}) {
  const shop = await sending.newShop()
  const workspaceId = shop.workspace.id
  const admin = await signedIn(server, { workspaceId, role: 'admin' })
  const developer = await signedIn(server, { workspaceId, role: 'developer' })
  if (isOn) await turn(admin, workspaceId, true)
  const detailOf = async (response: { headers: Headers }): Promise<RequestDetail> => {
    await loggedRequest(server, response)
    return (await developer.call(`/w/${workspaceId}/requests/${response.headers.get('x-request-id')}`)).body
  }
  return { shop, workspaceId, admin, developer, detailOf }
}

const sendText = (shop: TestShop, body = 'secret offer', more = {}) =>
  shop.send({ to: phone, type: 'text', text: { body }, reference: 'secret order', ...more })

/** All rows of the tables that the inspector writes. */
const stored = async (workspaceId: string): Promise<string> => {
  const rows = await server.db.rows<{ row: string }>(
    `select to_jsonb(e)::text as row from request_errors e where workspace_id = $1
     union all select to_jsonb(b)::text from request_bodies b where workspace_id = $1`,
    [workspaceId],
  )
  return rows.map(({ row }) => row).join('\n')
}

const runStep = async (step: string) => {
  await maintenanceSteps(server.runtime)
    .find(({ name }) => name === step)
    ?.run(server.db)
}

test('it is off at first: no body is stored, but the error response with its field errors is', async () => {
  const { shop, workspaceId, detailOf } = await setUp({ isOn: false })
  const sent = await detailOf(await sendText(shop))
  expect(sent).toMatchObject({ inspector_on: false, has_bodies: false, request_body: null, response_body: null })
  const failed = await detailOf(await shop.send({ to: 'Ana', type: 'text', text: { body: '' }, secret_field: 1 }))
  expect(failed).toMatchObject({ request_body: null, response_body: { state: 'stored' }, target: '/v1/messages' })
  expect(failed.field_errors.map(({ param, code }) => `${param} ${code}`).sort()).toEqual([
    'secret_field unknown',
    'text.body too_short',
    'to invalid',
  ])
  expect(JSON.parse(failed.response_body?.text ?? '')).toMatchObject({ error: { code: 'validation_failed' } })
  expect(await stored(workspaceId)).not.toMatch(/Ana|secret offer/)
})

test('when it is on, the redacted bodies are stored, with the message and its deliveries', async () => {
  const { shop, workspaceId, admin, detailOf } = await setUp()
  const created = await admin.call(`/w/${workspaceId}/webhooks`, {
    method: 'POST',
    body: { name: 'crm', url: 'https://127.0.0.1:9/hook', events: ['message.sent'] },
  })
  expect(created.status).toBe(201)
  const response = await sendText(shop)
  await sending.drain()
  const detail = await detailOf(response)
  expect(detail).toMatchObject({ inspector_on: true, has_bodies: true, target: '/v1/messages', field_errors: [] })
  expect(JSON.parse(detail.request_body?.text ?? '')).toEqual({
    to: '[redacted: 11 characters]',
    type: 'text',
    text: { body: '[redacted: 12 characters]' },
    reference: '[redacted: 12 characters]',
  })
  const { id } = response.body as { id: string }
  expect(JSON.parse(detail.response_body?.text ?? '')).toMatchObject({ id, object: 'message', status: 'queued' })
  expect(detail.message).toMatchObject({ id })
  expect(detail.events[0]).toMatchObject({
    type: 'message.sent',
    deliveries: [{ webhook_name: 'crm', state: 'pending' }],
  })
  const all = await stored(workspaceId)
  expect(all).not.toMatch(/secret|16505557001/)
})

test('no secret, header or person is stored, wherever a client puts it', async () => {
  const { shop, workspaceId, detailOf } = await setUp()
  const { workspace } = shop
  const canary = 'canary31415926'
  const headers = {
    cookie: `session=${canary}`,
    'x-api-key': canary,
    'idempotency-key': canary,
    'user-agent': 'test',
    'proxy-authorization': `Bearer ${canary}`,
  }
  const put = [
    await workspace.call(`/v1/me?access_token=${canary}&api_key=${workspace.secret}`, { headers }),
    await workspace.call(`/v1/messages/${canary}`, { headers }),
    await workspace.call(`/v1/nothing/${workspace.secret}`, { headers }),
    await workspace.call(`/v1/messages?reference=${canary}`, { headers }),
    await sendText(shop, canary, { reference: canary }),
    await shop.send({ [workspace.secret]: canary, token: canary, type: workspace.secret }, headers),
    await workspace.call('/v1/messages', { method: 'POST', body: `{"text": "${canary}" ${canary}`, headers }),
    await workspace.call('/v1/messages', { method: 'POST', body: canary, headers: { 'content-type': 'text/plain' } }),
    await workspace.call('/v1/webhook', { headers }),
  ]
  for (const response of put) await detailOf(response)
  const all = await stored(workspaceId)
  expect(all.split('\n').length).toBeGreaterThanOrEqual(put.length)
  for (const text of [canary, workspace.secret, workspace.secret.slice(12), 'whsec_']) expect(all).not.toContain(text)
})

test('a body that is not JSON, a file and a request without a body say so', async () => {
  const { shop, detailOf } = await setUp()
  const { workspace } = shop
  const broken = await workspace.call('/v1/messages', { method: 'POST', body: '{"to": ' })
  expect(await detailOf(broken)).toMatchObject({ request_body: { state: 'unread', text: null } })
  expect(await detailOf(await workspace.call('/v1/me'))).toMatchObject({ request_body: null, has_bodies: true })
  const form = new FormData()
  form.set('file', new Blob(['secret'], { type: 'text/plain' }), 'secret.txt')
  const upload = await fetch(`${server.url}/v1/media`, {
    method: 'POST',
    headers: { authorization: `Bearer ${workspace.secret}` },
    body: form,
  })
  await upload.text()
  expect(await detailOf(upload)).toMatchObject({ request_body: { state: 'file', text: null } })
})

test('error responses are stored up to a number of characters in a minute', async () => {
  const { shop, workspaceId, detailOf } = await setUp({ isOn: false })
  const names = Array.from({ length: 20 }, (_, at) => `${'a'.repeat(60)}${String.fromCharCode(97 + at)}`)
  const wrong = Object.fromEntries(names.map((name) => [name, 1]))
  const responses = []
  for (let round = 0; round < 20; round++) responses.push(await shop.send(wrong))
  const details = await Promise.all(responses.map(detailOf))
  const kept = details.filter(({ response_body: body }) => body !== null)
  expect(kept.length).toBeGreaterThan(2)
  expect(kept.length).toBeLessThan(20)
  expect((await stored(workspaceId)).length).toBeLessThan(storedErrorsPerMinute * 1.3)
  server.clock.forward({ minutes: 1 })
  expect((await detailOf(await shop.send(wrong))).response_body).not.toBeNull()
})

test('errors over the rate limit are not stored', async () => {
  const { workspaceId, shop, detailOf } = await setUp({ isOn: false })
  const { secret } = await shop.workspace.newKey({ rateLimitPerMin: 1 })
  await server.call('/v1/me', { key: secret })
  const limited = await server.call('/v1/me', { key: secret })
  expect(limited.status).toBe(429)
  expect((await detailOf(limited)).response_body).toBeNull()
  expect(await stored(workspaceId)).toBe('')
})

test('only admins turn it on or off, and the audit log says so', async () => {
  const { workspaceId, admin, developer } = await setUp({ isOn: false })
  const change = { method: 'PATCH', body: { request_inspector: true } }
  expect((await developer.call(`/w/${workspaceId}/settings`, change)).status).toBe(403)
  expect((await admin.call(`/w/${workspaceId}/settings`, change)).body).toMatchObject({ request_inspector: true })
  const { data } = (await admin.call(`/w/${workspaceId}/audit`)).body
  expect(data[0]).toMatchObject({
    action: 'workspace.settings',
    before: { request_inspector: false },
    after: { request_inspector: true },
  })
  const wrong = { method: 'PATCH', body: { request_inspector: 'yes' } }
  expect((await admin.call(`/w/${workspaceId}/settings`, wrong)).status).toBe(400)
})

test('members and people of other workspaces do not see a request', async () => {
  const { shop, workspaceId, detailOf } = await setUp()
  const response = await sendText(shop)
  await detailOf(response)
  const path = `requests/${response.headers.get('x-request-id')}`
  const member = await signedIn(server, { workspaceId, role: 'member' })
  expect((await member.call(`/w/${workspaceId}/${path}`)).status).toBe(403)
  const other = await setUp()
  expect((await other.admin.call(`/w/${workspaceId}/${path}`)).status).toBe(404)
  expect((await other.admin.call(`/w/${other.workspaceId}/${path}`)).status).toBe(404)
})

test('turning it off hides the bodies immediately, and maintenance deletes them; errors stay', async () => {
  const { shop, workspaceId, admin, detailOf } = await setUp()
  const neighbor = await setUp()
  const [sent, failed] = [await sendText(shop), await shop.send({})]
  const kept = await sendText(neighbor.shop)
  for (const response of [sent, failed]) expect((await detailOf(response)).has_bodies).toBe(true)
  await neighbor.detailOf(kept)
  await turn(admin, workspaceId, false)
  await turn(admin, workspaceId, true)
  expect(await detailOf(sent)).toMatchObject({ has_bodies: false, request_body: null, response_body: null })
  server.clock.forward({ seconds: 1 })
  const later = await sendText(shop)
  expect((await detailOf(later)).has_bodies).toBe(true)
  await runStep('erasures')
  const bodies = await server.db.rows('select 1 from request_bodies where workspace_id = $1', [workspaceId])
  expect(bodies).toHaveLength(1)
  expect((await detailOf(failed)).field_errors.length).toBeGreaterThan(0)
  expect((await neighbor.detailOf(kept)).has_bodies).toBe(true)
  server.clock.forward({ minutes: 11 })
  await runStep('erasures')
  const removals = await server.db.rows('select 1 from request_body_removals where workspace_id = $1', [workspaceId])
  expect(removals).toEqual([])
  expect((await detailOf(later)).has_bodies).toBe(true)
})

test('erasing a person deletes the bodies of the requests that sent them messages, and an export has them', async () => {
  const { shop, workspaceId, admin, detailOf } = await setUp()
  const other = await shop.send({ to: '16505557002', type: 'text', text: { body: 'for another person' } })
  const response = await sendText(shop)
  await sending.drain()
  expect((await detailOf(response)).has_bodies).toBe(true)
  const exported = await admin.call(`/w/${workspaceId}/contact.json?phone=${phone}`)
  expect(exported.body.messages).toMatchObject([{ api_request: { target: '/v1/messages' } }])
  expect(exported.body.messages[0].api_request.request).toContain('[redacted: 12 characters]')
  await admin.call(`/w/${workspaceId}/erasures`, { method: 'POST', body: { phone } })
  await eraseDue(server.db, server.clock, quiet)
  expect((await admin.call(`/w/${workspaceId}/erasures`)).body.data).toMatchObject([{ removed: { request_bodies: 1 } }])
  expect(await detailOf(response)).toMatchObject({ has_bodies: false, request_body: null })
  expect((await detailOf(other)).has_bodies).toBe(true)
})

// Last, because it moves the clock.
test('after seven days nothing is shown, and maintenance drops the rows', async () => {
  const { shop, workspaceId, detailOf } = await setUp()
  const [sent, failed] = [await sendText(shop), await shop.send({})]
  for (const response of [sent, failed]) expect((await detailOf(response)).has_bodies).toBe(true)
  const passHours = async (hours: number) => {
    for (let hour = 0; hour < hours; hour += 12) {
      server.clock.forward({ hours: 12 })
      await mayDeleteOld(server.db, server.clock, quiet)
    }
  }
  await passHours(6 * 24)
  await runStep('retention')
  await runStep('retention')
  expect((await detailOf(sent)).has_bodies).toBe(true)
  await passHours(36)
  for (const response of [sent, failed]) {
    expect(await detailOf(response)).toMatchObject({ has_bodies: false, response_body: null, field_errors: [] })
  }
  await passHours(24)
  // The first run detaches the partitions, the second one drops them.
  await runStep('retention')
  await runStep('retention')
  expect(await stored(workspaceId)).toBe('')
  expect((await detailOf(sent)).status).toBe(202)
})
