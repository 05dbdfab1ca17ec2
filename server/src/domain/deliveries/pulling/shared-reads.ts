/**
 * Reads that begin together and ask for the same share one statement. When an event wakes a thousand readers that are at the
 * same position, that is one statement instead of a thousand. A read never joins a statement that has begun: it might miss
 * an event.
 */
export class SharedReads<Result> {
  readonly #next = new Map<string, Promise<Result>>()

  read(name: string, run: () => Promise<Result>): Promise<Result> {
    const joined = this.#next.get(name)
    if (joined) return joined
    const started = new Promise<Result>((resolve, reject) => {
      setImmediate(() => {
        this.#next.delete(name)
        run().then(resolve, reject)
      })
    })
    this.#next.set(name, started)
    return started
  }
}
