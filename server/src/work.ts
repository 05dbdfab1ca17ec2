import { hostname } from 'node:os'
import { inspectorDaysOf } from '@parley/contract/console/inspector'
import { deleteOldWriters } from './db/batch-writer.ts'
import { databaseNow } from './db/database-clock.ts'
import type { Loop } from './db/loop.ts'
import { inTurn, type MaintenanceStep, startMaintenance } from './db/maintenance.ts'
import { dropOldPartitions, ensurePartitions, indexPartitions } from './db/partitions.ts'
import { mayDeleteOld } from './db/retention.ts'
import { deleteOldParked } from './domain/connections/parked.ts'
import { startSyncLoop } from './domain/connections/sync.ts'
import { deleteOldUnknownNumbers } from './domain/connections/unknown-numbers.ts'
import { verifyNewEntries } from './domain/credits/verify-ledger.ts'
import { takeSteps } from './domain/deliveries/engine/hold/steps.ts'
import { newConversationSweep } from './domain/deliveries/engine/order.ts'
import { startHandOver } from './domain/deliveries/engine/publish/hand-over.ts'
import { deletePastRetention, planMissing, startDeliveries } from './domain/deliveries/engine/start-worker.ts'
import { deleteOldLeftOut, sumLeftOut } from './domain/deliveries/reading/left-out.ts'
import { deleteOldFiles, startFetching } from './domain/files/fetching.ts'
import { newFileMover } from './domain/files/move.ts'
import { deleteUnusedObjects } from './domain/files/objects.ts'
import { makeFittingDue } from './domain/files/quota.ts'
import { deleteOldSamples, sampleHealth } from './domain/health/samples.ts'
import { deleteOldWindows } from './domain/keys/rate-limit.sql.ts'
import { deleteOldMessageHours, sumMessageHours } from './domain/messages/reading/message-hours.ts'
import { newEarlyStatusSweep } from './domain/messages/receiving/early-statuses.ts'
import { moveOlderMessages } from './domain/messages/receiving/older-messages.ts'
import { releaseParked } from './domain/messages/receiving/release-parked.ts'
import { rereadEarlier } from './domain/messages/receiving/reread.ts'
import { deleteOldResponses } from './domain/messages/sending/idempotency.ts'
import { recoverSends } from './domain/messages/sending/outbox.ts'
import { startReadReceipts } from './domain/messages/sending/read-receipts.ts'
import { startSending } from './domain/messages/sending/start-sending.ts'
import { deleteOldMailData, noticeExpiries } from './domain/notify/expiries.ts'
import { startNotifications } from './domain/notify/pass-on.ts'
import { startMails } from './domain/notify/send-mails.ts'
import { deleteExpiredPeopleData } from './domain/people/sign-in/delete-expired.ts'
import { removeOldContents } from './domain/privacy/content-retention.ts'
import { eraseDue } from './domain/privacy/erase.ts'
import { removeBodies } from './domain/requests/inspector/contents.ts'
import { mergeIndexes } from './domain/search/merge.sql.ts'
import { deleteOldUpdates } from './domain/updates/updates.ts'
import { version } from './lib/version.ts'
import { newOutbound } from './net/outbound.ts'
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

/** The work that one process of any role does for all. */
export function maintenanceSteps({ db: database, clock, log, config }: Runtime): MaintenanceStep[] {
  const { retentionDays, contentRetentionDays } = config
  // Rows with content and their own retention are not stored for longer than contents.
  const contentDays = Math.min(retentionDays, contentRetentionDays ?? retentionDays)
  const inspectorDays = inspectorDaysOf(retentionDays, contentRetentionDays)
  const sweepConversations = newConversationSweep()
  const deleteOld = inTurn(
    () =>
      dropOldPartitions(database, clock, log, retentionDays, {
        request_bodies: inspectorDays,
        request_errors: inspectorDays,
      }),
    async (db) => deletePastRetention(db, log, await databaseNow(db, clock), retentionDays),
    async (db) => deleteOldParked(db, log, await databaseNow(db, clock), contentDays),
    async (db) => deleteOldUpdates(db, await databaseNow(db, clock), contentDays),
    async (db) => deleteOldUnknownNumbers(db, await databaseNow(db, clock)),
    async (db) => deleteOldWriters(db, await databaseNow(db, clock)),
    async (db) => deleteOldMessageHours(db, await databaseNow(db, clock)),
    async (db) => deleteOldLeftOut(db, await databaseNow(db, clock)),
    async (db) => deleteOldSamples(db, await databaseNow(db, clock)),
    async (db) => deleteOldMailData(db, await databaseNow(db, clock)),
    (db) => deleteOldResponses(db, clock),
    async (db) => contentRetentionDays !== null && removeOldContents(db, clock, log, contentRetentionDays),
    async (db) => deleteOldFiles(db, await databaseNow(db, clock), contentDays),
    deleteUnusedObjects,
  )
  return [
    {
      name: 'partitions',
      everyMs: 60_000,
      run: inTurn(
        (db) => ensurePartitions(db, clock),
        (db) => mayDeleteOld(db, clock, log),
      ),
    },
    { name: 'partition indexes', everyMs: 60_000, run: () => indexPartitions(database, log) },
    {
      name: 'retention',
      everyMs: 600_000,
      run: inTurn(
        (db) => deleteOldWindows(db, clock.pinned()),
        (db) => deleteExpiredPeopleData(db, clock),
        async (db) => (await mayDeleteOld(db, clock, log)) && deleteOld(db),
        (db) => makeFittingDue(db, config.mediaBytesPerWorkspace, clock.now()),
      ),
    },
    {
      name: 'missing visits',
      everyMs: 60_000,
      run: inTurn(
        (db) => planMissing(db, clock.now()),
        (db) => sweepConversations(db, clock.now()),
      ),
    },
    { name: 'endpoint steps', everyMs: 1_000, run: (db) => takeSteps(db, clock, log) },
    {
      name: 'parked updates',
      everyMs: 2_000,
      run: (db) => releaseParked({ db, clock, log, publicUrl: config.publicUrl }),
    },
    {
      name: 'reread updates',
      everyMs: 60_000,
      run: (db) => rereadEarlier({ db, clock, log, publicUrl: config.publicUrl }),
    },
    { name: 'lost sends', everyMs: 5_000, run: (db) => recoverSends(db, clock) },
    { name: 'early statuses', everyMs: 5_000, run: newEarlyStatusSweep(clock) },
    {
      name: 'hourly counts',
      everyMs: 10_000,
      run: inTurn(sumMessageHours, sumLeftOut, (db) =>
        sampleHealth(db, clock.now(), config.databaseUrl === null ? config.dataDir : null),
      ),
    },
    { name: 'search index', everyMs: 60_000, run: () => mergeIndexes(database) },
    { name: 'older messages', everyMs: 600_000, run: (db) => moveOlderMessages(db, clock, log) },
    { name: 'move files', everyMs: 10_000, run: newFileMover(database, log) },
    {
      name: 'erasures',
      everyMs: 5_000,
      run: inTurn(
        (db) => eraseDue(db, clock, log),
        (db) => removeBodies(db, clock),
      ),
    },
    {
      name: 'expiries',
      everyMs: 600_000,
      run: async (db) => noticeExpiries(db, await databaseNow(db, clock)),
    },
    { name: 'verify the ledger', everyMs: 3_600_000, run: (db) => verifyNewEntries(db, clock, log) },
  ]
}

function startWorkers(runtime: Runtime): Work[] {
  const { db, clock, log, config, network, otherWorkers } = runtime
  const { secretKeys } = network
  const { mail, publicUrl } = config
  const outbound = newOutbound({ ...config.targetRules, ca: config.webhookCa })
  return [
    startDeliveries({ db, clock, log, secretKeys, outbound, otherWorkers, productVersion: version }),
    startSyncLoop(network, log),
    startSending(network, log),
    startReadReceipts(network, log),
    startFetching(network, log, config.mediaBytesPerWorkspace),
    startNotifications({ db, clock, log, secretKeys: () => secretKeys, sendsMail: mail !== null }),
    ...(mail ? [startMails({ db, clock, log, secretKeys, publicUrl, settings: mail })] : []),
  ]
}
