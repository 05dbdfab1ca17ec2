import { expect, test } from 'vitest'
import { newApp, newSender } from '../../../../testing/network-app.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'
import { newUuid } from '../../../lib/ids.ts'
import { timeBuckets } from '../../../lib/time-buckets.ts'
import { saveStatuses } from '../receiving/statuses.ts'
import { deleteOldMessageHours, sumMessageHours } from './message-hours.ts'
import { messagesByBucket } from './messages.ts'

const server = useTestServer()
const hourMs = 3_600_000
const statuses = ['sent', 'delivered', 'read', 'failed'] as const

/** Messages of the last ten hours, most of which get some statuses. */
async function newTraffic() {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15)))
  const now = server.clock.now()
  const messages = Array.from({ length: 60 }, (_, n) => ({
    id: newUuid(),
    createdAt: new Date(now.getTime() - (n % 10) * hourMs),
    reports: statuses.filter((_, index) => (n >> index) & 1),
  }))
  await server.db.change(
    `insert into messages (id, workspace_id, sender_id, recipient, created_at, key_id, type, credits, content)
     select m.id, $1, $2, '16505550123', m.at, k.id, 'text', 0, '{}'
     from unnest($3::uuid[], $4::timestamptz[]) as m(id, at), api_keys k where k.workspace_id = $1`,
    [workspace.id, sender.id, messages.map(({ id }) => id), messages.map(({ createdAt }) => createdAt)],
  )
  return {
    workspace,
    /** Reports a status for the messages that get it. */
    report: (status: (typeof statuses)[number]) =>
      server.db.transaction((tx) =>
        saveStatuses(
          tx,
          now,
          messages
            .filter(({ reports }) => reports.includes(status))
            .map(({ id }) => ({
              messageId: id,
              senderId: sender.id,
              workspaceId: workspace.id,
              waMessageId: `wamid.${id}`,
              status,
              occurredAt: now,
              error: null,
              recipientUserId: null,
              pricing: null,
            })),
        ),
      ),
    counts: () => messagesByBucket(server.db.within(workspace.id), workspace.id, timeBuckets('24h', now)),
    /** The same, from the messages themselves. */
    async wanted() {
      const rows = await server.db.rows<{ hour: Date; status: string; count: number }>(
        `select date_trunc('hour', created_at, 'UTC') as hour, status, count(*) from messages where workspace_id = $1
         group by 1, 2`,
        [workspace.id],
      )
      return timeBuckets('24h', now).starts.map((at) => {
        const of = (status: string) =>
          rows.find((row) => row.hour.getTime() === at.getTime() && row.status === status)?.count ?? 0
        const [sent, delivered, read, failed] = statuses.map(of)
        return { at, queued: of('queued'), sent, delivered, read, failed }
      })
    },
  }
}

/** How many changes are not added up yet. */
const changesOf = async (workspaceId: string) =>
  (await server.db.rows('select 1 from message_hour_changes where workspace_id = $1', [workspaceId])).length

test('the counts of the overview are those of the messages, before and after they are added up', async () => {
  const { workspace, report, counts, wanted } = await newTraffic()
  const expectRight = async () => expect(await counts()).toEqual(await wanted())
  await expectRight()
  for (const status of ['failed', 'sent', 'read', 'delivered'] as const) {
    await report(status)
    await expectRight()
    if (status === 'sent') await sumMessageHours(server.db)
    await expectRight()
  }
  expect(await changesOf(workspace.id)).toBeGreaterThan(0)
  await sumMessageHours(server.db)
  expect(await changesOf(workspace.id)).toBe(0)
  await expectRight()
})

test('a status that changes nothing in the counts inserts nothing, and one statement inserts one row for each hour', async () => {
  const { workspace, report } = await newTraffic()
  await report('delivered')
  expect(await changesOf(workspace.id)).toBe(10)
  // They fill in a time only.
  await report('sent')
  const onlySent = await changesOf(workspace.id)
  await report('sent')
  expect(await changesOf(workspace.id)).toBe(onlySent)
})

test('counts are deleted after the longest period of the overview', async () => {
  const { workspace, report } = await newTraffic()
  await report('sent')
  await sumMessageHours(server.db)
  const hours = async () =>
    (await server.db.rows('select 1 from message_hours where workspace_id = $1', [workspace.id])).length
  const before = await hours()
  expect(before).toBeGreaterThan(0)
  await deleteOldMessageHours(server.db, new Date(server.clock.now().getTime() + 61 * 24 * hourMs))
  expect(await hours()).toBe(before)
  await deleteOldMessageHours(server.db, new Date(server.clock.now().getTime() + 63 * 24 * hourMs))
  expect(await hours()).toBe(0)
})
