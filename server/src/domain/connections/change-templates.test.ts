import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Role, roles } from '@parley/contract/console/permissions'
import type { TemplateDraft } from '@parley/contract/console/template-draft'
import { rejectionOf } from '@parley/contract/console/template-review'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { ManualClock } from '@parley/simulator/clock'
import { expect, onTestFinished, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { syncConnection } from './sync.ts'

const server = useTestServer()
const sending = useSending(server, { clock: new ManualClock() })

const draft = (text: string, more: Partial<TemplateDraft> = {}): TemplateDraft => ({
  name: 'order_ready',
  language: 'en_US',
  category: 'UTILITY',
  components: [
    { type: 'BODY', text, ...(text.includes('{{1}}') && { example: { body_text: [['Ana']] } }) },
    { type: 'FOOTER', text: 'Harbour Shop' },
  ],
  ...more,
})
const good = draft('Hi {{1}}, your order is ready.')

async function newShop(role: Role = 'developer') {
  const shop = await sending.newShop()
  const person = await signedIn(server, { workspaceId: shop.workspace.id, role })
  const at = `/w/${shop.workspace.id}/templates`
  const create = (body: object) => person.call(at, { method: 'POST', body })
  const edit = (id: string, body: object) => person.call(`${at}/${id}`, { method: 'PATCH', body })
  const remove = (id: string) => person.call(`${at}/${id}`, { method: 'DELETE' })
  const read = async (id: string) => (await person.call(`${at}/${id}`)).body as ConsoleTemplate
  /** Ends the review of the network, whose notice arrives as a webhook. */
  const review = async () => {
    await sending.network.control.clock.advance(2_000)
    await sending.network.control.idle()
  }
  const entries = () =>
    server.db.rows<{ action: string }>(
      `select action, actor, target, target_name, before, after from audit_entries
       where workspace_id = $1 and action like 'template.%' order by at, id`,
      [shop.workspace.id],
    )
  return { ...shop, person, at, create, edit, remove, read, review, entries }
}

const refusedAt = (param: string, message: RegExp, code = 'refused') => ({
  status: 400,
  body: {
    error: { code: 'validation_failed', errors: [{ param, code, message: expect.stringMatching(message) }] },
  },
})

test('a template is created, rejected with its reason, edited, approved and sent', async () => {
  const { create, edit, read, review, entries, person, send, account } = await newShop()
  const created = await create(draft('Hi {{1}}, our summer sale has started.'))
  expect(created).toMatchObject({
    status: 201,
    body: { name: 'order_ready', status: 'PENDING', rejected_reason: null },
  })
  const { id } = created.body as ConsoleTemplate
  expect(await read(id)).toEqual(created.body)
  expect(await edit(id, { components: good.components })).toMatchObject({
    status: 409,
    body: { error: { code: 'conflict', message: expect.stringContaining('PENDING') } },
  })
  await review()
  const rejected = await read(id)
  expect(rejected).toMatchObject({
    status: 'REJECTED',
    rejected_reason: 'TAG_CONTENT_MISMATCH',
    status_info: { reason: expect.stringContaining('UTILITY'), recommendation: expect.stringContaining('MARKETING') },
  })
  expect(rejectionOf(rejected)).toMatchObject({ part: 'category', reason: rejected.status_info?.reason })
  const edited = await edit(id, { category: 'MARKETING', components: good.components })
  expect(edited).toMatchObject({
    status: 200,
    body: { id, status: 'PENDING', category: 'MARKETING', rejected_reason: null, status_info: null },
  })
  await review()
  expect(await read(id)).toMatchObject({ status: 'APPROVED', components: good.components })
  const sent = await send({
    to: '16505550123',
    type: 'template',
    template: { name: 'order_ready', language: 'en_US', variables: { 'body.1': 'Ana' } },
  })
  expect(sent.status).toBe(202)
  expect(await entries()).toMatchObject([
    {
      action: 'template.create',
      actor: person.email,
      target: id,
      target_name: 'order_ready (en_US)',
      after: { account: account.wabaId, category: 'UTILITY', body: 'Hi {{1}}, our summer sale has started.' },
    },
    {
      action: 'template.edit',
      target: id,
      before: { category: 'UTILITY', body: 'Hi {{1}}, our summer sale has started.' },
      after: { category: 'MARKETING', body: 'Hi {{1}}, your order is ready.', footer: 'Harbour Shop' },
    },
  ])
})

test('the words of a rejection stay after the next sync, and go with the rejection', async () => {
  const { create, read, review, connection } = await newShop()
  const { id } = (await create(draft('Pay today, or we take legal action.'))).body
  await review()
  const before = await read(id)
  await syncConnection(sending.network.network, connection.id)
  expect(await read(id)).toEqual(before)
  expect(before.status_info).toEqual({
    reason: 'The body threatens the customer.',
    recommendation: 'Remove the threat and say what you need.',
  })
  expect(rejectionOf(before)).toMatchObject({ part: 'body' })
  const { control } = sending.network
  const own = control.templates.list().find((each) => each.wabaId === before.account && each.name === 'order_ready')
  control.templates.setStatus(own?.id ?? '', { status: 'APPROVED' })
  await control.idle()
  expect(await read(id)).toMatchObject({ status: 'APPROVED', rejected_reason: null, status_info: null })
  control.templates.setStatus(own?.id ?? '', { status: 'PAUSED' })
  await control.idle()
  expect((await read(id)).status_info).toEqual({ reason: expect.stringContaining('3 hours'), recommendation: null })
})

test('an approved template keeps its category, and is deleted with its language only', async () => {
  const { create, edit, remove, read, review, person, at, entries } = await newShop('admin')
  const { id } = (await create(good)).body
  const { id: spanish } = (await create({ ...good, language: 'es' })).body
  await review()
  const { components } = good
  expect(await edit(id, { category: 'MARKETING', components })).toMatchObject(
    refusedAt('category', /approved/, 'invalid'),
  )
  expect(await edit(id, { components })).toMatchObject({ status: 200, body: { status: 'PENDING' } })
  await review()
  expect(await edit(id, { components })).toMatchObject(refusedAt('template', /once within 24 hours/))
  expect((await remove(id)).status).toBe(204)
  expect((await person.call(`${at}/${id}`)).status).toBe(404)
  expect(await read(spanish)).toMatchObject({ status: 'APPROVED' })
  expect((await remove(id)).status).toBe(404)
  expect((await entries()).map(({ action }) => action)).toEqual([
    'template.create',
    'template.create',
    'template.edit',
    'template.delete',
  ])
})

test('all problems are found before WhatsApp is called', async () => {
  const { create, edit, review, account, entries } = await newShop()
  const before = account.calls('message_templates')
  const { status, body } = await create(draft('{{1}}', { name: 'Order', language: 'english' }))
  expect(status).toBe(400)
  expect(body.error.errors.map(({ param }: { param: string }) => param)).toEqual([
    'name',
    'language',
    'body.text',
    'body.text',
    'body.text',
  ])
  expect(account.calls('message_templates')).toBe(before)
  expect(await entries()).toEqual([])
  const { id } = (await create(good)).body
  await review()
  expect(await edit(id, { components: [] })).toMatchObject(refusedAt('body.text', /Enter the text/, 'invalid'))
})

test('what WhatsApp refuses is an error at its field, in its words', async () => {
  const { create, entries, account } = await newShop()
  account.addTemplate({ name: 'taken', language: 'en_US' })
  expect(await create({ ...good, name: 'taken' })).toMatchObject(
    refusedAt('name', /^WhatsApp rejected it: Content in this language already exists\. There is already content/),
  )
  const { control } = sending.network
  control.tokens.change(account.token, { revoked: true })
  expect(await create(good)).toMatchObject(refusedAt('template', /WhatsApp error 0/))
  expect(await entries()).toEqual([])
})

test('only admins and developers make templates, and only those of their workspace', async () => {
  const shop = await newShop('admin')
  const { id } = (await shop.create(good)).body
  await shop.review()
  for (const role of roles) {
    const other = await newShop(role)
    const isAllowed = role !== 'member'
    expect((await other.create({ ...good, name: role })).status).toBe(isAllowed ? 201 : 403)
    for (const { status } of [await other.edit(id, { components: good.components }), await other.remove(id)])
      expect(status).toBe(isAllowed ? 404 : 403)
    const { status, body } = await other.create({ ...good, account: shop.account.wabaId })
    expect([status, body.error.param]).toEqual(isAllowed ? [400, 'account'] : [403, undefined])
  }
  expect(await shop.read(id)).toMatchObject({ status: 'APPROVED' })
  const key = await shop.workspace.newKey({ scopes: ['templates:read'] })
  for (const method of ['POST', 'PATCH', 'DELETE'])
    expect(
      (await server.call(`/v1/templates${method === 'POST' ? '' : `/${id}`}`, { method, key: key.secret })).status,
    ).toBe(405)
})

test('with two accounts the account is chosen, and a workspace without one is told so', async () => {
  const { create, workspace, account } = await newShop()
  const second = sending.network.newAccount()
  await second.connect(workspace)
  expect(await create(good)).toMatchObject(
    refusedAt('account', new RegExp(`Choose the account: ${account.wabaId}, ${second.wabaId}`), 'missing'),
  )
  for (const { wabaId } of [account, second])
    expect(await create({ ...good, account: wabaId })).toMatchObject({ status: 201, body: { account: wabaId } })
  const { id: workspaceId } = await newWorkspace(server)
  const empty = await signedIn(server, { workspaceId, role: 'admin' })
  const answer = await empty.call(`/w/${workspaceId}/templates`, { method: 'POST', body: good })
  expect(answer).toMatchObject(refusedAt('account', /Connect a WhatsApp account first/, 'missing'))
})

test('without an answer of WhatsApp the change is recorded as not confirmed; without a connection nothing is', async () => {
  const { create, entries, connection } = await newShop()
  const network = createServer((_request, response) => response.writeHead(502).end()).listen(0, '127.0.0.1')
  onTestFinished(() => void network.close())
  await once(network, 'listening')
  const graphUrl = `http://127.0.0.1:${(network.address() as AddressInfo).port}`
  await server.db.change('update apps set graph_url = $2 where id = $1', [connection.appId, graphUrl])
  expect(await create(good)).toMatchObject({
    status: 503,
    body: { error: { message: expect.stringContaining('before you try again') } },
  })
  expect(await entries()).toMatchObject([{ action: 'template.create', target: null, after: { confirmed: false } }])
  network.close()
  network.closeAllConnections()
  expect(await create(good)).toMatchObject({
    status: 503,
    body: { error: { message: expect.stringContaining('cannot be reached') } },
  })
  expect(await entries()).toHaveLength(1)
})
