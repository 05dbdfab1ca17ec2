import { hostname } from 'node:os'
import { inspectorDaysOf } from '@parley/contract/console/inspector'
import { deleteOldWriters } from './db/batch-writer.ts'
import { databaseNow } from './db/database-clock.ts'
import { type MaintenanceStep, startMaintenance } from './db/maintenance.ts'
import { dropOldPartitions, ensurePartitions, indexPartitions } from './db/partitions.ts'
import { mayDeleteOld } from './db/retention.ts'
import { deleteOldParked } from './domain/connections/parked.ts'
import { startSyncLoop } from './domain/connections/sync.ts'
import { deleteOldUnknownNumbers } from './domain/connections/unknown-numbers.ts'
import { verifyNewEntries } from './domain/credits/verify-ledger.ts'
import { startHandOver } from './domain/deliveries/engine/hand-over.ts'
import { newConversationSweep } from './domain/deliveries/engine/order.ts'
import { deletePastRetention, planMissing, startDeliveries } from './domain/deliveries/engine/start-worker.ts'
import { deleteOldLeftOut, sumLeftOut } from './domain/deliveries/reading/left-out.ts'
import { deleteOldFiles, startFetching } from './domain/files/fetching.ts'
import { newFileMover } from './domain/files/move.ts'
import { deleteUnusedObjects } from './domain/files/objects.ts'
import { makeFittingDue } from './domain/files/quota.ts'
import { deleteOldWindows } from './domain/keys/rate-limit.sql.ts'
import { deleteOldMessageHours, sumMessageHours } from './domain/messages/reading/message-hours.ts'
import { newEarlyStatusSweep } from './domain/messages/receiving/early-statuses.ts'
import { moveOlderMessages } from './domain/messages/receiving/older-messages.ts'
import { startReleaseLoop } from './domain/messages/receiving/release-parked.ts'
import { deleteOldResponses } from './domain/messages/sending/idempotency.ts'
import { startReadReceipts } from './domain/messages/sending/read-receipts.ts'
import { startSending } from './domain/messages/sending/start-sending.ts'
import { deleteOldMailData, noticeExpiries } from './domain/notify/expiries.ts'
import { startNotifications } from './domain/notify/pass-on.ts'
import { startMails } from './domain/notify/send-mails.ts'
import { deleteExpiredPeopleData } from './domain/people/delete-expired.ts'
import { removeOldContents } from './domain/privacy/content-retention.ts'
import { eraseDue } from './domain/privacy/erase.ts'
import { removeBodies } from './domain/requests/inspector/contents.ts'
import { mergeIndexes } from './domain/search/merge.sql.ts'
import type { Loop } from './lib/loop.ts'
import { newOutbound } from './lib/outbound.ts'
import { version } from './lib/version.ts'
import type { Runtime } from './runtime.ts'

export type Work = Pick<Loop, 'stop'>

/** Starts the background work of a process: deliveries, sending, downloads, syncs and its part in maintenance. */
export function startWork(runtime: Runtime): Work {
  const { db, log, config } = runtime
  const maintenance = startMaintenance({ db, log, process: `${hostname()}:${process.pid}` }, maintenanceSteps(runtime))
  const parts = [maintenance, ...(config.role === 'api' ? [startHandOver(runtime)] : startWorkers(runtime))]
  return {
    async stop() {
      // All at once, so that none waits for another to release its leases. If one fails, the others are still stopped.
      const stopped = await Promise.allSettled(parts.splice(0).map((part) => part.stop()))
      const errors = stopped.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
      if (errors.length > 0) throw new AggregateError(errors, 'stopping failed')
    },
  }
}

/** What one process does for all, whatever its role. */
export function maintenanceSteps({ db: database, clock, log, config }: Runtime): MaintenanceStep[] {
  const { retentionDays, contentRetentionDays } = config
  // What has content and its own retention is not stored for longer than contents are.
  const contentDays = Math.min(retentionDays, contentRetentionDays ?? retentionDays)
  const inspectorDays = inspectorDaysOf(retentionDays, contentRetentionDays)
  const sweepEarlyStatuses = newEarlyStatusSweep(clock)
  const sweepConversations = newConversationSweep()
  return [
    {
      name: 'partitions',
      everyMs: 60_000,
      async run(db) {
        await ensurePartitions(db, clock)
        await mayDeleteOld(db, clock, log)
      },
    },
    { name: 'partition indexes', everyMs: 60_000, run: () => indexPartitions(database, log) },
    {
      name: 'retention',
      everyMs: 3_600_000,
      async run(db) {
        if (!(await mayDeleteOld(db, clock, log))) return
        await dropOldPartitions(database, clock, log, retentionDays, {
          request_bodies: inspectorDays,
          request_errors: inspectorDays,
        })
        const now = await databaseNow(db, clock)
        await deletePastRetention(db, log, now, retentionDays)
        await deleteOldParked(db, log, now, contentDays)
        await deleteOldUnknownNumbers(db, now)
        await deleteOldWriters(db, now)
        await deleteOldMessageHours(db, now)
        await deleteOldLeftOut(db, now)
      },
    },
    { name: 'rate-limit windows', everyMs: 60_000, run: (db) => deleteOldWindows(db, clock.pinned()) },
    {
      name: 'missing visits',
      everyMs: 60_000,
      async run(db) {
        await planMissing(db, clock.now())
        await sweepConversations(db, clock.now())
      },
    },
    { name: 'early statuses', everyMs: 5_000, run: sweepEarlyStatuses },
    { name: 'message hours', everyMs: 10_000, run: (db) => sumMessageHours(db, clock) },
    { name: 'left out events', everyMs: 10_000, run: (db) => sumLeftOut(db) },
    { name: 'search index', everyMs: 60_000, run: mergeIndexes },
    { name: 'older messages', everyMs: 600_000, run: (db) => moveOlderMessages(db, clock, log) },
    { name: 'sign-ins', everyMs: 600_000, run: (db) => deleteExpiredPeopleData(db, clock) },
    {
      name: 'idempotency keys',
      everyMs: 600_000,
      async run(db) {
        if (await mayDeleteOld(db, clock, log)) await deleteOldResponses(db, clock)
      },
    },
    {
      name: 'old files',
      everyMs: 600_000,
      async run(db) {
        const now = await databaseNow(db, clock)
        if (await mayDeleteOld(db, clock, log)) await deleteOldFiles(db, now, contentDays)
        await makeFittingDue(db, config.mediaBytesPerWorkspace, clock.now())
      },
    },
    { name: 'move files', everyMs: 10_000, run: newFileMover(database, log) },
    {
      name: 'unused objects',
      everyMs: 600_000,
      async run(db) {
        if (await mayDeleteOld(db, clock, log)) await deleteUnusedObjects(db)
      },
    },
    {
      name: 'content retention',
      everyMs: 600_000,
      async run(db) {
        if (contentRetentionDays === null || !(await mayDeleteOld(db, clock, log))) return
        await removeOldContents(db, clock, log, contentRetentionDays)
      },
    },
    { name: 'request bodies', everyMs: 60_000, run: (db) => removeBodies(db, clock) },
    { name: 'erase contacts', everyMs: 5_000, run: (db) => eraseDue(db, clock, log) },
    {
      name: 'expiries',
      everyMs: 600_000,
      async run(db) {
        const now = await databaseNow(db, clock)
        await noticeExpiries(db, now)
        if (await mayDeleteOld(db, clock, log)) await deleteOldMailData(db, now)
      },
    },
    { name: 'verify the ledger', everyMs: 3_600_000, run: (db) => verifyNewEntries(db, clock, log) },
  ]
}

function startWorkers(runtime: Runtime): Work[] {
  const { db, clock, log, config, network } = runtime
  const { secretKeys } = network
  const { mail, publicUrl } = config
  const outbound = newOutbound({ ...config.targetRules, ca: config.webhookCa })
  return [
    startDeliveries({ db, clock, log, secretKeys, outbound, productVersion: version }),
    startSyncLoop(network, log),
    startReleaseLoop(db, clock, log, config.publicUrl),
    startSending(network, log),
    startReadReceipts(network, log),
    startFetching(network, log, config.mediaBytesPerWorkspace),
    startNotifications({ db, clock, log, secretKeys: () => secretKeys, sendsMail: mail !== null }),
    ...(mail ? [startMails({ db, clock, log, secretKeys, publicUrl, settings: mail })] : []),
  ]
}
