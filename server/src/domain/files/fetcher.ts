/**
 * Downloads the files of submitted forms and inbound messages from the network: a file is claimed, fetched with no
 * transaction open, and the outcome is recorded. If the process dies, the file is claimed again when the lease expires, and
 * fetched from the start: chunks are readable only once the file is complete. An upload that a process was receiving when it
 * died is claimed too, and deleted: only the client has it.
 *
 *   waiting → fetching → fetched → gone (retention)
 *                      → waiting again, with backoff
 *                      → waiting for space, if the workspace has none: maintenance makes it due (`quota.sql.ts`)
 *                      → gone: missing, wrong hash or too large, or the network's seven days are over
 */
import { quotaExceeded } from '@parley/contract/flow-response'
import { FairShares } from '../../sharing/fair-shares.ts'
import { takeInTurn } from '../../sharing/turns.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Network } from '../connections/network.ts'
import { type FetchOutcome, fetchFile, leaseMs } from './fetch.ts'
import { classifyFetchFailure } from './fetch-retry-policy.ts'
import {
  type ClaimedFile,
  claimFiles,
  deleteUpload,
  type FileQuota,
  recordFetched,
  recordFetchRetry,
  recordFileLost,
  workspacesWithDueFiles,
} from './fetching.sql.ts'
import { recordOverQuota } from './quota.sql.ts'

export interface Fetcher {
  /** Claims due files up to the concurrency limit, starts fetching them, and returns how many. */
  turn(): Promise<number>
  /** Fetches until no file is due and none is being fetched. */
  drain(): Promise<void>
  /** Aborts running downloads and releases their files for the next process. */
  stop(): Promise<void>
}

/**
 * Downloads of a process at a time, each with a chunk in memory. Workspaces share them fairly: a download may take minutes,
 * and one workspace alone has at most half of them.
 */
const concurrency = 16
const stopTimeoutMs = 3_000

export interface FetcherOptions {
  /** How much the files of a workspace may take. */
  maxStoredBytes?: number
  onSlotFree?: () => void
}

export function newFetcher(network: Network, log: Logger, options: FetcherOptions = {}): Fetcher {
  const { maxStoredBytes = Number.POSITIVE_INFINITY, onSlotFree = () => {} } = options
  const { db, clock } = network
  const running = new Map<Promise<void>, ClaimedFile>()
  const slots = new FairShares(concurrency)
  const stopping = new AbortController()

  function logFailure({ id, workspaceId, attempts }: ClaimedFile, outcome: string, next: string): void {
    const fields = { file_id: id, workspace_id: workspaceId, attempts, outcome, next }
    log.warn({ event: 'file.fetch_failed', ...fields }, 'downloading a file failed')
    db.telemetry.metrics.add('file downloads', next)
  }

  async function record(claimed: ClaimedFile, outcome: FetchOutcome | { kind: 'too_late' }): Promise<void> {
    const now = clock.now()
    switch (outcome.kind) {
      case 'lost':
        return
      case 'stopped':
        return release(claimed)
      case 'fetched':
        db.telemetry.metrics.add('file downloads', 'fetched')
        return void (await recordFetched(db, claimed, outcome.file, now))
      case 'too_late': {
        const why = claimed.lastError === quotaExceeded ? quotaExceeded : 'too_late'
        return void (await recordFileLost(db, claimed, why, null))
      }
      case 'quota_exceeded':
        logFailure(claimed, outcome.kind, outcome.kind)
        return void (await recordOverQuota(db, claimed, outcome.size))
    }
    const decision = classifyFetchFailure(outcome, claimed.attempts, now, claimed.tryUntil)
    logFailure(claimed, outcome.kind, decision.kind)
    if (decision.kind === 'retry') await recordFetchRetry(db, claimed, decision.at, decision.error)
    else await recordFileLost(db, claimed, decision.why, decision.error)
  }

  /** Lets another process fetch the file. This attempt does not count. */
  async function release(claimed: ClaimedFile): Promise<void> {
    await recordFetchRetry(db, claimed, clock.now(), null, true)
  }

  async function fetchAndRecord(claimed: ClaimedFile): Promise<void> {
    if (claimed.senderId === null) return void (await deleteUpload(db, claimed))
    // A file whose attempts all crashed the process, or that waited for space.
    const isTooLate = claimed.tryUntil <= clock.now()
    const outcome = isTooLate ? ({ kind: 'too_late' } as const) : await fetchOne(claimed)
    await record(claimed, outcome)
    db.notify(claimed.workspaceId, claimed.messageId === null ? 'forms' : 'messages')
  }

  async function fetchOne(claimed: ClaimedFile): Promise<FetchOutcome> {
    try {
      return await fetchFile(network, claimed, maxStoredBytes, stopping.signal)
    } catch (error) {
      log.warn(
        { event: 'file.fetch_crashed', err: error, file_id: claimed.id },
        'downloading a file failed unexpectedly',
      )
      return { kind: 'failed', error: 'internal error', retryAfterMs: null }
    }
  }

  /** Claims due files of every workspace in turn. Each file has a slot until its download has ended. */
  async function claim(): Promise<ClaimedFile[]> {
    const now = clock.now()
    const quotas = takeSlots(await workspacesWithDueFiles(db, now))
    let claimed: ClaimedFile[] = []
    try {
      if (quotas.length > 0)
        claimed = await claimFiles(db, { quotas, now, leaseUntil: new Date(now.getTime() + leaseMs) })
      return claimed
    } finally {
      const counts = Map.groupBy(claimed, ({ workspaceId }) => workspaceId)
      for (const { workspaceId, maxCount } of quotas) {
        slots.release(workspaceId, maxCount - (counts.get(workspaceId)?.length ?? 0))
      }
    }
  }

  /** Takes a slot for each workspace in turn, until each has its share. They begin at a random one. */
  function takeSlots(workspaceIds: string[]): FileQuota[] {
    const first = Math.floor(Math.random() * workspaceIds.length)
    const inOrder = [...workspaceIds.slice(first), ...workspaceIds.slice(0, first)]
    const quotas = inOrder.map((workspaceId) => ({ workspaceId, maxCount: 0 }))
    takeInTurn(
      quotas,
      ({ workspaceId }) => workspaceId,
      (quota) => {
        const isTaken = slots.take(quota.workspaceId)
        if (isTaken) quota.maxCount++
        return isTaken
      },
    )
    return quotas.filter(({ maxCount }) => maxCount > 0)
  }

  function start(claimed: ClaimedFile): void {
    const done = fetchAndRecord(claimed)
      // The lease expires, and the file is fetched again.
      .catch((error: unknown) => {
        const fields = { event: 'file.recording_failed', err: error, file_id: claimed.id } as const
        log.warn(fields, 'recording a download failed; it is repeated')
      })
      .finally(() => {
        running.delete(done)
        slots.release(claimed.workspaceId)
        onSlotFree()
      })
    running.set(done, claimed)
  }

  const fetcher: Fetcher = {
    async turn() {
      if (slots.taken === concurrency || stopping.signal.aborted) return 0
      const claimed = await claim()
      if (stopping.signal.aborted) await Promise.all(claimed.map(release))
      else for (const each of claimed) start(each)
      return claimed.length
    },
    async drain() {
      while ((await fetcher.turn()) > 0 || running.size > 0) await Promise.race(running.keys())
    },
    async stop() {
      stopping.abort()
      const timeout = new Promise<void>((resolve) => setTimeout(resolve, stopTimeoutMs).unref())
      // First and without waiting for the network: without its lease, a download can write nothing more.
      const released = Promise.all([...running.values()].map(release)).catch(() => {})
      await Promise.race([Promise.all([released, ...running.keys()]), timeout])
    },
  }
  return fetcher
}
