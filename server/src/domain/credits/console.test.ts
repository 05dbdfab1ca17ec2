import { roles } from '@parley/contract/console/permissions'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newUuid } from '../../lib/ids.ts'
import { moveBalance } from './credits.sql.ts'
import { giveCredits, refund } from './credits.ts'

const server = useTestServer()

async function newWorkspaceWithPerson(role: 'admin' | 'developer' = 'admin') {
  const workspace = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId: workspace.id, role })
  const at = `/w/${workspace.id}/credits`
  const give = (amount: number, note = 'a gift') => giveCredits(server.db, server.clock, workspace.id, amount, note)
  const spend = async (credits: number) => {
    const messageId = newUuid()
    const at = server.clock.now()
    const debit = { kind: 'debit', amount: -credits, messageId, note: null, at } as const
    await moveBalance(server.db, { id: newUuid(at.getTime()), workspaceId: workspace.id, ...debit })
    return messageId
  }
  const refundMessage = (messageId: string) =>
    refund(server.db, server.clock.now(), [{ workspaceId: workspace.id, messageId }])
  return { workspace, person, at, give, spend, refundMessage }
}

test('the console returns the balance, the usage of each day and all prices', async () => {
  const { person, at, give, spend, refundMessage } = await newWorkspaceWithPerson('developer')
  await give(100)
  await spend(3)
  server.clock.forward({ hours: 24 })
  const failed = await spend(5)
  await refundMessage(failed)
  expect((await person.call(at)).body).toEqual({ balance: 97, low_balance: 100, had_credits: true })
  const { body } = await person.call(`${at}/usage`)
  expect(body.days).toHaveLength(30)
  const today = server.clock.now().toISOString().slice(0, 10)
  expect(body.days.at(-1)).toEqual({ day: today, spent: 5, refunded: 5 })
  expect(body.days.at(-2)).toMatchObject({ spent: 3, refunded: 0 })
  expect(body.days.at(0)).toMatchObject({ spent: 0, refunded: 0 })
  expect(body.prices).toContainEqual({ item: 'template.MARKETING', credits: 1 })
})

test('the statement lists every entry once, newest first, while new entries are added', async () => {
  const { person, at, give, spend, refundMessage } = await newWorkspaceWithPerson()
  await give(10)
  const message = await spend(1)
  await refundMessage(message)
  await give(-2, 'taken back')
  const first = (await person.call(`${at}/entries?limit=2`)).body
  await spend(1)
  const second = (await person.call(`${at}/entries?limit=2&cursor=${first.next_cursor}`)).body
  const entries = [...first.data, ...second.data]
  expect(entries.map(({ kind, amount }) => [kind, amount])).toEqual([
    ['adjust', -2],
    ['refund', 1],
    ['debit', -1],
    ['grant', 10],
  ])
  expect(entries[1]).toMatchObject({ message_id: `msg_${message}`, balance_after: 10 })
  for (const kind of ['grant', 'refund', 'adjust'] as const) {
    expect((await person.call(`${at}/entries?kind=${kind}`)).body.data, kind).toMatchObject([{ kind }])
  }
  expect((await person.call(`${at}/entries?kind=debit`)).body.data).toHaveLength(2)
  expect((await person.call(`${at}/entries?from=2999-01-01T00:00:00Z`)).body.data).toEqual([])
  expect((await person.call(`${at}/entries?kind=gift`)).status).toBe(400)
})

test('only an admin can set the low-balance warning, and the change is audited', async () => {
  const { workspace, person, at } = await newWorkspaceWithPerson()
  const change = (by: typeof person, low_balance: unknown) => by.call(at, { method: 'PATCH', body: { low_balance } })
  for (const role of roles) {
    const other = await signedIn(server, { workspaceId: workspace.id, role })
    expect((await change(other, 7)).status, role).toBe(role === 'admin' ? 200 : 403)
  }
  expect((await change(person, 20)).body).toEqual({ low_balance: 20 })
  expect((await change(person, -1)).status).toBe(400)
  expect((await person.call(at)).body.low_balance).toBe(20)
  const entries = await server.db.rows(
    `select before, after from audit_entries where actor = $1 and action = 'credits.warn_at'`,
    [person.email],
  )
  expect(entries).toEqual([{ before: { low_balance: 7 }, after: { low_balance: 20 } }])
})

test('a member cannot read credits (403), and a person of another workspace gets 404', async () => {
  const { workspace, at } = await newWorkspaceWithPerson()
  const member = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  const stranger = (await newWorkspaceWithPerson()).person
  for (const path of [at, `${at}/usage`, `${at}/entries`, `${at}.csv`]) {
    expect((await member.call(path)).status, path).toBe(403)
    expect((await stranger.call(path)).status, path).toBe(404)
  }
})

test('the CSV export needs a recent confirmation, and no cell is a formula', async () => {
  const { person, at, give, spend } = await newWorkspaceWithPerson()
  await give(10, '=1+1,"x"')
  await spend(1)
  const { status, headers, body } = await person.call(`${at}.csv`)
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(headers.get('content-disposition')).toBe('attachment; filename="credits.csv"')
  const lines = String(body).trimEnd().split('\r\n')
  expect(lines).toHaveLength(3)
  expect(lines[0]).toBe('time,kind,amount,balance after,message,note,id')
  expect(lines[1]).toContain(',debit,-1,9,msg_')
  expect(lines[2]).toContain(`,grant,10,10,,"'=1+1,""x""",`)
  server.clock.forward({ minutes: 11 })
  expect(await person.call(`${at}.csv`)).toMatchObject({
    status: 403,
    body: { error: { code: 'confirmation_required' } },
  })
})

test('a long statement is exported completely', async () => {
  const { workspace, person, at, give } = await newWorkspaceWithPerson()
  await give(5000)
  await server.db.change(
    `insert into credit_entries (id, workspace_id, kind, amount, balance_after, message_id, created_at)
     select gen_random_uuid(), $1, 'debit', -1, 1, gen_random_uuid(), $2 from generate_series(1, 2500)`,
    [workspace.id, server.clock.now()],
  )
  const { body } = await person.call(`${at}.csv`)
  const ids = String(body)
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(',').at(-1))
  expect(new Set(ids).size).toBe(2502)
})
