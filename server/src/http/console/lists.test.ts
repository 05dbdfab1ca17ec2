import { can, type Permission } from '@parley/contract/console/permissions'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { giveCredits } from '../../domain/credits/credits.ts'
import { newUuid } from '../../lib/ids.ts'

/** What every list of the console has: filters with several values, a total, and a CSV export. */
const server = useTestServer()
const sending = useSending(server)

const lists: readonly { list: string; csv: string; who: Permission; times: readonly [string, string] | null }[] = [
  { list: 'messages', csv: 'messages.csv', who: 'messages:read', times: ['from', 'to'] },
  { list: 'deliveries', csv: 'deliveries.csv', who: 'deliveries:read', times: ['since', 'until'] },
  { list: 'requests', csv: 'requests.csv', who: 'requests:read', times: ['from', 'to'] },
  { list: 'orders', csv: 'orders.csv', who: 'orders:read', times: ['from', 'to'] },
  { list: 'forms', csv: 'forms.csv', who: 'forms:read', times: ['from', 'to'] },
  { list: 'templates', csv: 'templates.csv', who: 'templates:read', times: ['from', 'to'] },
  { list: 'credits/entries', csv: 'credits.csv', who: 'credits:read', times: ['from', 'to'] },
  { list: 'keys', csv: 'keys.csv', who: 'keys:read', times: ['from', 'to'] },
  { list: 'webhooks', csv: 'webhooks.csv', who: 'webhooks:read', times: ['from', 'to'] },
  { list: 'senders', csv: 'senders.csv', who: 'senders:read', times: null },
  { list: 'team', csv: 'team.csv', who: 'team:read', times: null },
  { list: 'refusals', csv: 'refusals.csv', who: 'requests:read', times: null },
]
const paged = lists.slice(0, 7)

async function newShop() {
  const shop = await sending.newShop()
  const admin = await signedIn(server, { workspaceId: shop.workspace.id, role: 'admin' })
  const read = async (path: string) => (await admin.call(`/w/${shop.workspace.id}/${path}`)).body
  return { ...shop, admin, read }
}

test.each(lists)('the export of $list is a file, for those who may read the list', async ({ csv, who }) => {
  const { id } = await newWorkspace(server)
  for (const role of ['admin', 'developer', 'member'] as const) {
    const person = await signedIn(server, { workspaceId: id, role })
    const { status, headers } = await person.call(`/w/${id}/${csv}`)
    expect(status, role).toBe(can(role, who) ? 200 : 403)
    if (status === 200) expect(headers.get('content-type'), role).toBe('text/csv; charset=utf-8')
  }
})

test.each(lists.filter(({ times }) => times))('an invalid time is a validation error in $list', async (each) => {
  const { id } = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: id, role: 'admin' })
  const invalid = ['yesterday', '2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', '0000-01-01T00:00Z', '%00', '']
  const [from, to] = each.times ?? []
  const total = paged.includes(each) ? [`${each.list}/total`] : []
  for (const path of [each.list, each.csv, ...total]) {
    for (const name of [from, to]) {
      for (const time of invalid) {
        const { status, body } = await admin.call(`/w/${id}/${path}?${name}=${time}`)
        expect([status, body.error?.code], `${path} ${name}=${time}`).toEqual([400, 'validation_failed'])
      }
    }
    const empty = await admin.call(`/w/${id}/${path}?${from}=2026-01-01T00:00:00Z&${to}=2025-01-01T00:00:00Z`)
    expect(empty.status, path).toBe(200)
  }
})

test('totals count what the list would show, with the same filters', async () => {
  const { read, sendText, account, senderId } = await newShop()
  for (const to of ['16505550123', '16505550123', '16505550124']) await sendText(to)
  await sending.network.control.phones.say('16505550123', { to: account.phoneNumber, text: 'hi' })
  await sending.network.control.idle()
  for (const [query, total] of [
    ['', 4],
    ['?direction=received', 1],
    ['?phone=16505550123', 3],
    ['?phone=16505550123&direction=sent', 2],
    [`?sender=${senderId},snd_${newUuid()}`, 4],
    [`?sender=snd_${newUuid()}`, 0],
    ['?type=text,image', 4],
    ['?type=image', 0],
    ['?q=16505550124', 1],
    ['?q=wamid.unknown', 0],
    ['?from=2999-01-01T00:00:00Z', 0],
  ] as const) {
    expect(await read(`messages/total${query}`), query).toEqual({ total, total_is_exact: true })
    expect((await read(`messages${query}`)).data, query).toHaveLength(total)
  }
})

test('a filter with several values matches rows with any of them', async () => {
  const { workspace, read } = await newShop()
  await giveCredits(server.db, server.clock, workspace.id, 10, 'a gift')
  await giveCredits(server.db, server.clock, workspace.id, -2, 'taken back')
  const kinds = async (query: string) =>
    (await read(`credits/entries?${query}`)).data.map(({ kind }: { kind: string }) => kind)
  expect(await kinds('kind=grant,adjust')).toEqual(expect.arrayContaining(['adjust', 'grant']))
  expect(await kinds('kind=refund,adjust')).toEqual(['adjust'])
  expect(await kinds('kind=debit,refund')).toEqual([])
  const total = await read('credits/entries/total?kind=grant,adjust')
  expect(total.total).toBe((await kinds('kind=grant,adjust')).length)
  const { status } = await (await signedIn(server, { workspaceId: workspace.id, role: 'admin' })).call(
    `/w/${workspace.id}/credits/entries?kind=grant,gift`,
  )
  expect(status).toBe(400)
})

test('statuses, codes and methods of requests can be combined, and the total includes every match', async () => {
  const workspace = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const read = async (path: string) => (await admin.call(`/w/${workspace.id}/${path}`)).body
  await workspace.call('/v1/me')
  await workspace.call(`/v1/messages/msg_${newUuid()}`)
  await workspace.call('/v1/me', { method: 'DELETE' })
  const found = async (query: string) => {
    const { data } = await read(`requests?${query}`)
    const { total } = await read(`requests/total?${query}`)
    expect(total, query).toBe(data.length)
    return data.map(({ status }: { status: number }) => status).sort()
  }
  await expect.poll(() => found('route=/v1/')).toEqual([200, 404, 405])
  expect(await found('route=/v1/&status=2xx,405')).toEqual([200, 405])
  expect(await found('code=not_found,method_not_allowed')).toEqual([404, 405])
  expect(await found('code=not_found')).toEqual([404])
  expect(await found('method=DELETE,GET&status=4xx')).toEqual([404, 405])
  expect(await found(`key=${workspace.key.id},${newUuid()}&status=404`)).toEqual([404])
})

test('deliveries by several states, types and webhooks, and their total', async () => {
  const { workspace, admin, read, account } = await newShop()
  const create = async (name: string, enabled: boolean) => {
    const input = { name, url: 'http://127.0.0.1:9/hooks', events: ['message.received', 'message.failed'] }
    const { body } = await admin.call(`/w/${workspace.id}/webhooks`, { method: 'POST', body: input })
    if (!enabled)
      await admin.call(`/w/${workspace.id}/webhooks/${body.webhook.id}/disable`, {
        method: 'POST',
        body: { reason: 'test' },
      })
    return body.webhook.id as string
  }
  const [open, held] = [await create('open', true), await create('held', false)]
  await sending.network.control.phones.say('16505550123', { to: account.phoneNumber, text: 'hi' })
  await sending.network.control.idle()
  const found = async (query: string) => {
    const { data } = await read(`deliveries?${query}`)
    const { total } = await read(`deliveries/total?${query}`)
    expect(total, query).toBe(data.length)
    return data.length
  }
  await expect.poll(() => found('')).toBe(2)
  expect(await found('state=held')).toBe(1)
  expect(await found('state=held,waiting')).toBe(2)
  expect(await found('state=delivered,failed')).toBe(0)
  expect(await found(`webhook=${open},${held}`)).toBe(2)
  expect(await found(`webhook=${held}`)).toBe(1)
  expect(await found('type=message.received,message.failed')).toBe(2)
  expect(await found('type=message.failed')).toBe(0)
  expect(await found('type=message.received,message.failed&state=held')).toBe(1)
  expect(await found('event=nonsense')).toBe(0)
  expect(await found('until=2020-01-01T00:00:00Z')).toBe(0)
  const csv = String(await read('deliveries.csv?state=held'))
  expect(csv.trimEnd().split('\r\n')).toHaveLength(2)
})

test('the export of messages has the filtered rows, and the audit entry names no person', async () => {
  const { workspace, admin, sendText } = await newShop()
  await sendText('16505550123')
  await sendText('16505550124')
  const { body } = await admin.call(`/w/${workspace.id}/messages.csv?phone=16505550123&q=16505550123`)
  const [head, ...lines] = String(body).trimEnd().split('\r\n')
  expect(head).toBe('time,id,direction,status,type,phone,user_id,name,sender_id,template,text,reference,error')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('16505550123')
  const entry = await server.db.first<{ after: object }>(
    `select after from audit_entries where workspace_id = $1 and action = 'data.export'`,
    [workspace.id],
  )
  expect(entry?.after).toEqual({ phone: 'one person', q: 'a search' })
})

test('HEAD exports nothing', async () => {
  const { id } = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: id, role: 'admin' })
  for (const { csv } of lists) {
    expect((await admin.call(`/w/${id}/${csv}`, { method: 'HEAD' })).status, csv).toBe(404)
  }
  const exports = `select 1 from audit_entries where workspace_id = $1 and action = 'data.export'`
  expect(await server.db.rows(exports, [id])).toEqual([])
})

test('short lists are filtered by text, state and time', async () => {
  const { workspace, admin, read } = await newShop()
  const names = async (path: string) => (await read(path)).data.map(({ name }: { name: string }) => name)
  await admin.call(`/w/${workspace.id}/keys`, { method: 'POST', body: { name: 'Till', scopes: [] } })
  expect(await names('keys?q=TILL')).toEqual(['Till'])
  expect(await names('keys?state=revoked,expired')).toEqual([])
  expect((await names('keys?state=active,revoked')).length).toBe(2)
  expect(await names('keys?from=2999-01-01T00:00:00Z')).toEqual([])
  expect((await read('senders?status=CONNECTED,BANNED')).data).toHaveLength(1)
  expect((await read('senders?quality=RED')).data).toEqual([])
  expect(await names('webhooks?q=nothing')).toEqual([])
  const csv = String(await read(`team.csv?role=developer`))
  expect(csv.trimEnd().split('\r\n')).toHaveLength(1)
})

test.each(paged)('the total of $list is not found in another workspace', async ({ list }) => {
  const { id } = await newWorkspace(server)
  const { id: other } = await newWorkspace(server)
  const stranger = await signedIn(server, { workspaceId: other, role: 'admin' })
  expect((await stranger.call(`/w/${id}/${list}/total`)).status).toBe(404)
})
