/**
 * Runs replays: adds the next events as ordinary deliveries, a fraction of a second ahead of their pace, in one transaction with
 * the position that it has reached. One process at a time runs a replay, under a lease in the table; if it dies, another one
 * takes over from that position, with the deliveries that were not attempted.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Loop, startLoop } from '../../../db/loop.ts'
import { newUuid } from '../../../lib/ids.ts'
import { releaseLeases } from '../engine/claim/claim.sql.ts'
import { StartPace } from '../engine/queue/start-pace.ts'
import { isAtStart, planStep, returnReplays, type TakenReplay, takeReplays } from './run.sql.ts'
import { againMs, ReplayLost, type Running, type StepDeps, stepMs, takeStep, waitingEveryMs } from './step.ts'

export type ReplayDeps = Omit<StepDeps, 'owner'>

/** How long the lease on a replay lasts. A process that takes no step for this long makes no first attempts for it. */
const ownedMs = 5_000
/** Replays per run of the loop; the others come first in the next. */
const replaysMax = 20
/** How often the pace is asked whether more may begin. */
const beginEveryMs = 20
const pollEveryMs = 1_000
/** How long stopping waits for a database that does not respond. The leases end by themselves then. */
const returnMs = 2_000

export class ReplayRunner {
  readonly #deps: StepDeps
  readonly #running = new Map<string, Running>()
  #beginning: NodeJS.Timeout | undefined

  constructor(deps: ReplayDeps) {
    this.#deps = { ...deps, owner: newUuid() }
  }

  /** Takes the steps that are due. Returns when the next is, in milliseconds. */
  async step(): Promise<number> {
    const { db, clock, owner, worker } = this.#deps
    await this.#forgetLost()
    await this.#returnUnreadable()
    const now = clock.now()
    const ownedUntil = new Date(now.getTime() + ownedMs)
    const nextAt = new Date(now.getTime() + stepMs.min)
    const errors: unknown[] = []
    const except = [...worker.unreadable]
    for (const replay of await takeReplays(db, { owner, now, ownedUntil, nextAt, except, limit: replaysMax })) {
      await this.#takeStep(replay, ownedUntil).catch((error: unknown) => errors.push(error))
    }
    this.#keepBeginning()
    if (errors.length > 0) throw errors[0]
    const next = [...this.#running.values()].map(({ nextMs }) => nextMs - clock.now().getTime())
    // A due delivery may be locked for a moment, while its attempts are recorded.
    return Math.max(againMs, Math.min(pollEveryMs, ...next))
  }

  async stop(): Promise<void> {
    clearInterval(this.#beginning)
    const { db, clock, owner } = this.#deps
    const returned = async () => {
      await this.#forget([...this.#running.keys()])
      await returnReplays(db, owner, clock.now())
    }
    await Promise.race([returned().catch(() => {}), sleep(returnMs, undefined, { ref: false })])
  }

  /** Another process may run what this one has no lease on any more. */
  async #forgetLost(): Promise<void> {
    const now = this.#deps.clock.now()
    await this.#forget([...this.#running].flatMap(([id, { pace }]) => (pace.ownedUntil > now ? [] : [id])))
  }

  /** A process that cannot decrypt the secret of a webhook leaves its replays to other processes. */
  async #returnUnreadable(): Promise<void> {
    const { db, clock, owner, worker } = this.#deps
    const ids = [...this.#running].flatMap(([id, { webhookId }]) => (worker.unreadable.has(webhookId) ? [id] : []))
    await this.#forget(ids)
    for (const id of ids) await returnReplays(db, owner, clock.now(), id)
  }

  /** Removes replays from this process. Their waiting deliveries are released, unless another process has them by now. */
  async #forget(ids: readonly string[]): Promise<void> {
    const { db, clock, worker } = this.#deps
    const items = ids.flatMap((id) => worker.removeReplay(this.#running.get(id)?.webhookId ?? '', id))
    for (const id of ids) this.#running.delete(id)
    if (items.length > 0) await releaseLeases(db, items, clock.now())
  }

  /** While something may wait for its pace. */
  #keepBeginning(): void {
    if (this.#running.size === 0) {
      clearInterval(this.#beginning)
      this.#beginning = undefined
    } else this.#beginning ??= setInterval(() => this.#deps.worker.beginReplays(), beginEveryMs).unref()
  }

  #open(replay: TakenReplay, ownedUntil: Date): Running {
    let running = this.#running.get(replay.id)
    if (!running) {
      const { webhookId, rate, before } = replay
      const pace = new StartPace(replay.id, rate, this.#deps.clock)
      if (!isAtStart(replay)) pace.wait()
      const isTakenOver = before !== null && before !== this.#deps.owner
      running = { webhookId, pace, lease: newUuid(), isTakenOver, reclaimAtMs: 0, scan: 0, nextMs: 0 }
      this.#running.set(replay.id, running)
      if (isTakenOver) {
        const fields = { event: 'replay.taken_over', replay_id: replay.id, webhook_id: webhookId } as const
        this.#deps.log.info(fields, 'this process continues a replay of a process that is gone')
      }
    }
    running.pace.ownedUntil = ownedUntil
    return running
  }

  async #takeStep(replay: TakenReplay, ownedUntil: Date): Promise<void> {
    const { db, clock, owner } = this.#deps
    const running = this.#open(replay, ownedUntil)
    const plan = async (waitMs: number) => {
      const nextAt = new Date(clock.now().getTime() + waitMs)
      running.nextMs = nextAt.getTime()
      await planStep(db, replay.id, owner, nextAt)
    }
    try {
      const waitMs = await takeStep(this.#deps, replay, running)
      if (waitMs === null) this.#running.delete(replay.id)
      else await plan(waitMs)
    } catch (error) {
      // It was cancelled during the step; the next one drops what was not sent.
      if (error instanceof ReplayLost) return plan(stepMs.min)
      await plan(waitingEveryMs).catch(() => {})
      throw error
    }
  }
}

/** Runs replays until stopped. */
export function startReplays(deps: ReplayDeps): Pick<Loop, 'stop'> {
  const runner = new ReplayRunner(deps)
  const loop = startLoop(deps, 'replays', pollEveryMs, async () => ({ nextInMs: await runner.step() }))
  return {
    async stop() {
      await loop.stop()
      await runner.stop()
    },
  }
}
