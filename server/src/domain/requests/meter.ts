import type { RequestRecord } from '../../lib/access-check.ts'
import { DurationHistogram } from '../../lib/counters.ts'

/** Requests of one method and route, by class of status: 2xx is at 2. */
export interface Metered {
  classes: Float64Array
  spans: DurationHistogram
}

/** Where what has no route is counted: callers choose the paths they ask for, and there is no end to them. */
const elsewhere = 'other'

/** Counts requests as they end, by plain numbers: one look into a map, nothing made. */
export class RequestMeter {
  readonly #routes: Map<string, Map<string, Metered>>

  constructor(routes: Iterable<string>) {
    this.#routes = new Map([...routes, elsewhere].map((route) => [route, new Map()]))
  }

  note({ route, method, status, durationUs }: RequestRecord): void {
    const methods = (this.#routes.get(route) ?? this.#routes.get(elsewhere)) as Map<string, Metered>
    let metered = methods.get(method)
    if (!metered) {
      metered = { classes: new Float64Array(6), spans: new DurationHistogram() }
      // Methods too are the caller's choice, but Node knows only some forty.
      methods.set(method, metered)
    }
    const statusClass = (status / 100) | 0
    metered.classes[statusClass] = (metered.classes[statusClass] as number) + 1
    metered.spans.add(durationUs / 1000)
  }

  *read(): Iterable<{ route: string; method: string } & Metered> {
    for (const [route, methods] of this.#routes) {
      for (const [method, metered] of methods) yield { route, method, ...metered }
    }
  }
}
