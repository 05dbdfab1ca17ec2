/** How webhooks are batched, posted and retried. */
export interface QueueSettings {
  /** How long updates are collected into a batch; 0 collects only those of the same tick. */
  batchWindowMs: number
  batchSize: number
  concurrency: number
  timeoutMs: number
  /** Delays before the second, third, … attempt; the last one repeats. */
  retryMs: number[]
  giveUpAfterMs: number
  /** Above this many queued updates the network rejects new messages. */
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
