/**
 * Network → us, file by file: a file is claimed, fetched with no transaction open, and settled. What a process that died
 * was fetching is claimed again when its lease has run out, from the start: chunks count only once the whole is there.
 *
 *   waiting → fetching → fetched → gone (retention)
 *                      → waiting again, after a growing wait
 *                      → gone: denied, garbled or too large, or the network's seven days are over
 */
import type { Logger } from '../../lib/logger.ts'
import type { Network } from '../connections/network.ts'
import { type FetchOutcome, fetchFile, leaseMs } from './fetch.ts'
import { classifyFetchFailure } from './fetch-retry-policy.ts'
import { type ClaimedFile, claimFiles, recordFetched, recordFetchRetry, recordFileLost } from './fetching.sql.ts'

export interface Fetcher {
  /** Claims what is due, as far as there is room, and begins with it; says how many it were. */
  turn(): Promise<number>
  /** Fetches until nothing is due and nothing is under way. */
  drain(): Promise<void>
  /** Breaks off what is under way and leaves it to whoever comes next. */
  stop(): Promise<void>
}

const atOnce = 4
const stopMs = 3_000

export function newFetcher(network: Network, log: Logger, onRoom: () => void = () => {}): Fetcher {
  const { db, clock } = network
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()

  async function settle(claimed: ClaimedFile, outcome: FetchOutcome | { kind: 'too_late' }): Promise<void> {
    const now = clock.now()
    switch (outcome.kind) {
      case 'lost':
        return
      case 'stopped':
        return void (await recordFetchRetry(db, claimed, now, null, true))
      case 'fetched':
        return void (await recordFetched(db, claimed, outcome.file, now))
      case 'too_late':
        return void (await recordFileLost(db, claimed, 'too_late', null))
    }
    const judgement = classifyFetchFailure(outcome, claimed.attempts, now, claimed.tryUntil)
    const { id: fileId, workspaceId, attempts } = claimed
    const fields = { file_id: fileId, workspace_id: workspaceId, attempts, outcome: outcome.kind, next: judgement.kind }
    log.warn({ event: 'file.fetch_failed', ...fields }, 'downloading a file failed')
    if (judgement.kind === 'retry') await recordFetchRetry(db, claimed, judgement.at, judgement.error)
    else await recordFileLost(db, claimed, judgement.why, judgement.error)
  }

  async function fetchAndSettle(claimed: ClaimedFile): Promise<void> {
    // Whoever had it died over it, again and again.
    const isTooLate = claimed.tryUntil <= clock.now()
    const outcome = isTooLate ? ({ kind: 'too_late' } as const) : await fetchOne(claimed)
    await settle(claimed, outcome)
    db.notify(claimed.workspaceId, 'forms')
  }

  async function fetchOne(claimed: ClaimedFile): Promise<FetchOutcome> {
    try {
      return await fetchFile(network, claimed, stopping.signal)
    } catch (error) {
      log.warn(
        { event: 'file.fetch_crashed', err: error, file_id: claimed.id },
        'downloading a file failed unexpectedly',
      )
      return { kind: 'failed', error: 'a fault of our own', retryAfterMs: null }
    }
  }

  function start(claimed: ClaimedFile): void {
    const done = fetchAndSettle(claimed)
      // Its lease runs out, and it is tried again.
      .catch((error: unknown) => {
        const fields = { event: 'file.recording_failed', err: error, file_id: claimed.id } as const
        log.warn(fields, 'recording a download failed; it is repeated')
      })
      .finally(() => {
        running.delete(done)
        onRoom()
      })
    running.add(done)
  }

  const fetcher: Fetcher = {
    async turn() {
      const room = atOnce - running.size
      if (room <= 0 || stopping.signal.aborted) return 0
      const now = clock.now()
      const claimed = await claimFiles(db, now, new Date(now.getTime() + leaseMs), room)
      for (const each of claimed) start(each)
      return claimed.length
    },
    async drain() {
      while ((await fetcher.turn()) > 0 || running.size > 0) await Promise.race(running)
    },
    async stop() {
      stopping.abort()
      const late = new Promise<void>((resolve) => setTimeout(resolve, stopMs).unref())
      await Promise.race([Promise.all(running), late])
    },
  }
  return fetcher
}
