/** A response to a request with a key that has a low limit. */
export interface LimitedResponse {
  key: string
  sentMs: number
  receivedMs: number
  status: number
  remaining: number
  resetSeconds: number
}

/** Of a slower response it is not known well enough in which window it was counted. */
const slowMs = 3_000
/** Windows are at least 60 seconds apart, and their ends are known to a second or two. */
const apartMs = 15_000

/**
 * Windows with more requests let through than the limit, or two with the same number of requests left. `restarts` are the times
 * when PostgreSQL crashed, after which all windows start again.
 */
export function findExceeded(
  responses: readonly LimitedResponse[],
  limit: number,
  restarts: readonly number[],
): string[] {
  const problems: string[] = []
  const isNearRestart = ({ sentMs, receivedMs }: LimitedResponse) =>
    restarts.some((at) => sentMs < at + slowMs && receivedMs > at - slowMs)
  const passed = responses.filter(
    (each) => each.status === 200 && each.receivedMs - each.sentMs < slowMs && !isNearRestart(each),
  )
  const epochOf = ({ sentMs }: LimitedResponse) => restarts.filter((at) => at < sentMs).length
  for (const [name, group] of Map.groupBy(passed, (each) => `${each.key.slice(-6)} ${epochOf(each)}`)) {
    const ends = group
      .map((each) => ({ ...each, endMs: each.receivedMs + each.resetSeconds * 1000 }))
      .sort((left, right) => left.endMs - right.endMs)
    let window: typeof ends = []
    for (const [index, each] of ends.entries()) {
      window.push(each)
      const following = ends[index + 1]
      if (following && following.endMs - each.endMs < apartMs) continue
      const distinct = new Set(window.map(({ remaining }) => remaining)).size
      if (window.length > limit || distinct < window.length) {
        const end = new Date(each.endMs).toISOString()
        problems.push(
          `key …${name}: ${window.length} requests (${distinct} places) in the window until ${end}, limit ${limit}`,
        )
      }
      window = []
    }
  }
  return problems
}
