/** In-memory counters and duration histograms, by name. Counting costs one map lookup. */
export class Counters {
  readonly #counts = new Map<string, Map<string, number>>()
  readonly #durations = new Map<string, DurationHistogram>()

  add(name: string, label: string, by = 1): void {
    const counts = this.#counts.get(name) ?? new Map<string, number>()
    if (counts.size === 0) this.#counts.set(name, counts)
    counts.set(label, (counts.get(label) ?? 0) + by)
  }

  time(name: string, ms: number): void {
    let histogram = this.#durations.get(name)
    if (!histogram) {
      histogram = new DurationHistogram()
      this.#durations.set(name, histogram)
    }
    histogram.add(ms)
  }

  counts(name: string): ReadonlyMap<string, number> {
    return this.#counts.get(name) ?? new Map()
  }

  durations(name: string): DurationHistogram {
    return this.#durations.get(name) ?? new DurationHistogram()
  }
}

/** The upper bounds of the histogram buckets, in seconds. */
export const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

export class DurationHistogram {
  /** One more than there are bounds; the last bucket is for longer durations. */
  readonly buckets = new Float64Array(durationBounds.length + 1)
  seconds = 0

  add(ms: number): void {
    const seconds = ms / 1000
    let at = 0
    while (at < durationBounds.length && seconds > (durationBounds[at] as number)) at++
    this.buckets[at] = (this.buckets[at] as number) + 1
    this.seconds += seconds
  }
}
