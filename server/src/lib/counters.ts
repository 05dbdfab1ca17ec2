/** How often something happened, by name; and how long it took. Plain numbers: counting costs a look into a map. */
export class Counters {
  readonly #counts = new Map<string, Map<string, number>>()
  readonly #spans = new Map<string, DurationHistogram>()

  /** `what` happened, of this `kind`. */
  add(what: string, kind: string, by = 1): void {
    const kinds = this.#counts.get(what) ?? new Map<string, number>()
    if (kinds.size === 0) this.#counts.set(what, kinds)
    kinds.set(kind, (kinds.get(kind) ?? 0) + by)
  }

  time(what: string, ms: number): void {
    let spans = this.#spans.get(what)
    if (!spans) {
      spans = new DurationHistogram()
      this.#spans.set(what, spans)
    }
    spans.add(ms)
  }

  counts(what: string): ReadonlyMap<string, number> {
    return this.#counts.get(what) ?? new Map()
  }

  spans(what: string): DurationHistogram {
    return this.#spans.get(what) ?? new DurationHistogram()
  }
}

/** The upper bounds of the classes that spans of time are sorted into, in seconds. */
export const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

/** Spans of time, sorted into classes as they come. */
export class DurationHistogram {
  /** One more than there are bounds: the last is for what is longer than all of them. */
  readonly classes = new Float64Array(durationBounds.length + 1)
  seconds = 0

  add(ms: number): void {
    const seconds = ms / 1000
    let at = 0
    while (at < durationBounds.length && seconds > (durationBounds[at] as number)) at++
    this.classes[at] = (this.classes[at] as number) + 1
    this.seconds += seconds
  }
}
