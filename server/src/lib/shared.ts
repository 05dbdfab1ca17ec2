import { forgetOldest } from './forget-oldest.ts'

const max = 20_000

/** Values that are read again and again, each held once. */
export class Shared<Value> {
  readonly #known = new Map<string, Value>()

  /** The one that was first under this name. */
  of(name: string, value: Value): Value {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    this.#known.set(name, value)
    forgetOldest(this.#known, max)
    return value
  }
}
