import type { ConsoleReplay } from '@parley/contract/console/replays'
import { afterAll, beforeAll } from 'vitest'
import type { DeliveryWorker } from '../src/domain/deliveries/engine/worker.ts'
import { getReplay, type ReplayInput, startReplay } from '../src/domain/deliveries/replays/replays.ts'
import { ReplayRunner } from '../src/domain/deliveries/replays/run.ts'
import type { TestServer } from './test-server.ts'
import { until } from './until.ts'

export interface Replays {
  runner: ReplayRunner
  start(webhookId: string, input?: Partial<ReplayInput>): Promise<ConsoleReplay>
  read(id: string): Promise<ConsoleReplay>
  /** Runs steps and attempts what they add, until `isOver`; by default until the replay has ended. */
  run(id: string, isOver?: (replay: ConsoleReplay) => boolean): Promise<ConsoleReplay>
}

/** Runs replays of the test server with its delivery worker. */
export function useReplays(server: TestServer, deliveries: { worker: DeliveryWorker }): Replays {
  const read = (id: string) => getReplay(server.db, id)
  const replays: Replays = {
    runner: undefined as never,
    read,
    async start(webhookId, input = {}) {
      const since = new Date(server.clock.now().getTime() - 86_400_000)
      const { replay } = await startReplay(server.db, server.clock, webhookId, { since, rate: 1_000, ...input })
      await untilCommitted(server, replay.id)
      return read(replay.id)
    },
    async run(id, isOver = ({ ended_at }) => ended_at !== null) {
      for (let step = 0; step < 400; step++) {
        await replays.runner.step()
        await deliveries.worker.drain()
        const replay = await read(id)
        if (isOver(replay)) return replay
        server.clock.forward({ ms: 250 })
      }
      throw new Error(`the replay did not end: ${JSON.stringify(await read(id))}`)
    },
  }
  beforeAll(() => {
    replays.runner = newReplayRunner(server, deliveries.worker)
  })
  afterAll(() => replays.runner.stop())
  return replays
}

/**
 * Waits until all transactions from before a replay have ended, also those of other databases of the same PostgreSQL. Until then
 * it sends only what is old.
 */
export const untilCommitted = ({ db }: TestServer, replayId: string): Promise<unknown> =>
  until(
    'all transactions from before the replay have ended',
    () =>
      db.first('select 1 from replays where id = $1 and created_in < pg_snapshot_xmin(pg_current_snapshot())', [
        replayId.slice(4),
      ]),
    80_000,
  )

export const newReplayRunner = ({ db, clock, runtime: { log } }: TestServer, worker: DeliveryWorker): ReplayRunner =>
  new ReplayRunner({ db, clock, log, worker })
