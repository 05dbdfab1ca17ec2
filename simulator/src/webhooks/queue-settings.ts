/** How webhooks are gathered, posted and tried again. */
export interface QueueSettings {
  /** How long updates are gathered; 0 gathers only what happens in the same instant. */
  batchWindowMs: number
  batchSize: number
  concurrency: number
  timeoutMs: number
  /** Waits before the second, third, … attempt; the last one repeats. */
  retryMs: number[]
  giveUpAfterMs: number
  /** Beyond this many updates the network takes no more messages until callbacks catch up. */
  maxQueued: number
}

export const defaultQueueSettings: QueueSettings = {
  batchWindowMs: 0,
  batchSize: 100,
  concurrency: 8,
  timeoutMs: 10_000,
  retryMs: [0, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000],
  giveUpAfterMs: 7 * 86_400_000,
  maxQueued: 100_000,
}
