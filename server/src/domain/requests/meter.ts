import type { RequestRecord } from '../../http/access-check.ts'
import { DurationHistogram } from '../../telemetry/counters.ts'

/** Requests of one method and route. `classes` is indexed by status class: 2xx is at 2. */
export interface Metered {
  classes: Float64Array
  spans: DurationHistogram
}

/** Counts all unknown paths together, because clients can make up any number of them. */
const otherRoute = 'other'

/** Counts requests when they end, without allocating memory per request. */
export class RequestMeter {
  readonly #routes: Map<string, Map<string, Metered>>

  constructor(routes: Iterable<string>) {
    this.#routes = new Map([...routes, otherRoute].map((route) => [route, new Map()]))
  }

  record({ route, method, status, durationUs }: RequestRecord): void {
    const methods = (this.#routes.get(route) ?? this.#routes.get(otherRoute)) as Map<string, Metered>
    let metered = methods.get(method)
    if (!metered) {
      metered = { classes: new Float64Array(6), spans: new DurationHistogram() }
      // Clients choose the method too, but Node accepts only about forty.
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
