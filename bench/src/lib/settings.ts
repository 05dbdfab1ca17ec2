/** The environment variables that change how much a benchmark does. `npm run bench -- --help` lists them. */
export const settings = {
  BENCH_ROUNDS: 'rounds of deliver, roles, lifecycle, growth and peers (3) and statuses (2)',
  BENCH_SECONDS: 'seconds of each measurement of api (2), ingest (5) and send (5)',
  BENCH_ROUND_EVENTS: 'events in each round of deliver (12,000) and growth (8,000)',
  BENCH_LIFECYCLES: 'messages in each round of lifecycle (4,000) and growth (2,000)',
  BENCH_MESSAGES: 'messages in each part of statuses (8,000)',
  BENCH_EVENTS: 'events that growth stores before it measures (20,000,000)',
  BENCH_MEMORY_EVENTS: 'events of memory (500,000)',
  BENCH_REQUESTS: 'logged requests that pages stores before it measures (10,000,000)',
  BENCH_WAITING: 'deliveries that wait at the hanging endpoint of isolation (50,000)',
} as const

export const otherSettings = {
  BENCH_DATA_DIR: 'where pages keeps its data for the next run',
  BENCH_KEEP: 'set to 1, pages measures nothing and runs the service on its data until Ctrl-C, to look at it',
  BENCH_PEERS: "the folder of the peers' benchmark (../shared/bench/peers)",
  BENCH_NODE_FLAGS: 'flags for the Node of each measured process (the service: as npm start has)',
} as const

export function numberSetting(name: keyof typeof settings, fallback: number): number {
  const text = process.env[name]
  if (!text) return fallback
  const value = Number(text)
  if (Number.isInteger(value) && value > 0) return value
  throw new Error(`Invalid ${name}: "${text}". Use a whole number above 0.`)
}
