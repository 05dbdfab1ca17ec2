// An endpoint with three million held deliveries is enabled, disabled and deleted while another workspace receives events.
// Takes about two minutes, most of it for inserting the rows.
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { migrate } from '@parley/server/db/migrate/migrate'
import { ensurePartitions } from '@parley/server/db/partitions'
import { deleteWebhook, disableWebhook, enableWebhook } from '@parley/server/domain/webhooks/webhooks'
import { systemClock } from '@parley/server/lib/clock'
import { newFolder, removeFolder } from '../../../server/testing/data-dir.ts'
import { spawnService } from '../../../server/testing/service.ts'
import { countingReceiver, localReceivers, newTenant, steadyTraffic } from '../../../server/testing/tenants.ts'

const held = 3_000_000
/** Only the oldest deliveries have events: more than are attempted while this runs. */
const withEvents = 300_000
const limitMs = 2_000

async function run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
  const dataDir = newFolder('parley-held-')
  const embedded = await openEmbedded({ dataDir, purpose: 'visitor' })
  try {
    await migrate(embedded.connection)
    const db = openDatabase(embedded.connection, () => {}, 4)
    await ensurePartitions(db, systemClock)
    const [big, small] = [await countingReceiver(), await countingReceiver()]
    const { workspaceId, webhookId } = await newTenant(db, 'held', big.url)
    const other = await newTenant(db, 'other', small.url)
    await disableWebhook(db, systemClock, webhookId, 'moving servers')
    await db.change(
      `with row as (
         select n, now() - interval '1 hour' + n * interval '1 ms' as at,
           (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - 3600000 + n), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid as id
         from generate_series(1, $3::int) as n
       ), event as (
         insert into events (id, workspace_id, type, body, created_at)
         select id, $2, 'message.received', '{"data":{}}', at from row where n <= $4
       )
       insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, due_at)
       select id, $1, $2, at, at from row`,
      [webhookId.slice(4), workspaceId, held, withEvents],
    )
    await db.change('analyze deliveries')
    say(`${held} deliveries are held`)
    const service = await spawnService(embedded.connection, localReceivers)
    const traffic = await steadyTraffic(db, service.url, other.workspaceId, small)
    const open = async () =>
      (
        await db.first<{ n: number }>('select count(*)::int as n from deliveries where webhook_id = $1', [
          webhookId.slice(4),
        ])
      )?.n ?? 0
    const longest = { enable: 0, disable: 0, delete: 0 }
    const timed = async (what: keyof typeof longest, action: () => Promise<unknown>) => {
      const startedMs = performance.now()
      await action()
      const tookMs = performance.now() - startedMs
      longest[what] = Math.max(longest[what], tookMs)
      say(`${what}: ${tookMs.toFixed(0)} ms`)
    }
    await sleep(2_000)
    const beganMs = performance.now()
    await sleep(8_000)
    const alone = traffic.latency(beganMs, performance.now() - 1_000)
    say(`the other workspace alone: p99 ${alone.p99.toFixed(0)} ms`)
    const actionsMs = performance.now()
    for (let round = 0; round < 2; round++) {
      await timed('enable', () => enableWebhook(db, systemClock, webhookId))
      await sleep(5_000)
      await timed('disable', () => disableWebhook(db, systemClock, webhookId, 'moving servers again'))
      // As long as attempts that have begun may take.
      await sleep(2_500)
    }
    const delivered = big.arrivedMs.size
    const lost = held - delivered - (await open())
    say(`${delivered} delivered, ${lost} lost`)
    await timed('delete', () => deleteWebhook(db, systemClock, webhookId))
    const before = await open()
    const deletingMs = performance.now()
    await sleep(10_000)
    const perSecond = ((before - (await open())) / (performance.now() - deletingMs)) * 1_000
    const isSilent = big.arrivedMs.size === delivered
    say(`deleting ${perSecond.toFixed(0)} deliveries per second in the background`)
    traffic.stop()
    await sleep(2_000)
    const during = traffic.latency(actionsMs)
    const missing = traffic.missing()
    await service.stop()
    await db.close()
    for (const each of [big, small]) each.close()
    const times = Object.entries(longest).map(([what, ms]) => `${what} ${ms.toFixed(0)} ms`)
    const ok =
      Object.values(longest).every((ms) => ms < limitMs) &&
      during.longest < limitMs &&
      lost === 0 &&
      missing === 0 &&
      delivered > 0 &&
      perSecond > 0 &&
      isSilent
    const figure = `longest: ${times.join(', ')}; other workspace p99 ${during.p99.toFixed(0)} ms, longest ${during.longest.toFixed(0)} ms (alone ${alone.p99.toFixed(0)} ms); ${lost + missing} lost`
    return { figure, ok }
  } finally {
    await embedded.close()
    removeFolder(dataDir)
  }
}

export const scenario = {
  name: 'held-millions',
  wanted: 'enable, disable and delete within 2 s each; other workspaces do not notice; nothing is lost',
  run,
}
