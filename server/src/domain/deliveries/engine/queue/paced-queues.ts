import { Queue } from '../../../../sharing/queue.ts'
import type { LeasedDelivery, Pace } from '../first-attempts.ts'

type PacedDelivery = LeasedDelivery & { pace: Pace }

export const isPaced = (item: LeasedDelivery): item is PacedDelivery => item.pace != null

/** The deliveries of an endpoint that wait for the pace of their replay, in their order and by replay. Replays take turns. */
export class PacedQueues {
  #replays: { pace: Pace; waiting: Queue<PacedDelivery> }[] = []

  get isEmpty(): boolean {
    return this.#replays.length === 0
  }

  sizeOf(replayId: string): number {
    return this.#replays.find(({ pace }) => pace.replayId === replayId)?.waiting.size ?? 0
  }

  push(item: PacedDelivery): void {
    let replay = this.#replays.find(({ pace }) => pace === item.pace)
    if (!replay) {
      replay = { pace: item.pace, waiting: new Queue() }
      this.#replays.push(replay)
    }
    replay.waiting.push(item)
  }

  /** The next delivery that its pace lets begin now. */
  next(): PacedDelivery | undefined {
    if (this.isEmpty) return undefined
    for (const replay of [...this.#replays]) {
      if (!replay.pace.mayTake()) continue
      const item = replay.waiting.shift() as PacedDelivery
      this.#replays = this.#replays.filter((each) => each !== replay)
      if (replay.waiting.size > 0) this.#replays.push(replay)
      item.pace.take(item)
      return item
    }
    return undefined
  }

  /** Removes and returns what waits of a replay, or of all. */
  clear(replayId?: string): LeasedDelivery[] {
    const { removed = [], kept = [] } = Object.groupBy(this.#replays, ({ pace }) =>
      replayId === undefined || pace.replayId === replayId ? 'removed' : 'kept',
    )
    this.#replays = kept
    return removed.flatMap(({ waiting }) => waiting.clear())
  }
}
