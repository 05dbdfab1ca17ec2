import { Queue } from './queue.ts'

/** Who a request counts as: a person whose browser is known, or a client address. */
export interface Client {
  key: string
  isKnown: boolean
}

export interface FairQueueLimits {
  /** How many functions run at a time. */
  running: number
  /** How many functions of one client may wait. */
  waitingPerClient: number
  /** How many functions of all unknown clients together may wait. */
  waiting: number
  /** Called if a function may not wait; throws. */
  refuse(reason: 'client is full' | 'queue is full'): never
}

/**
 * Runs a limited number of functions at a time. The others wait, and clients take turns, so one client with many functions
 * delays the others by one each. Known clients go first, and a queue that is full of unknown ones does not affect them.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits
  readonly #known: Turns = new Map()
  readonly #unknown: Turns = new Map()
  #running = 0
  #waiting = 0

  constructor(limits: FairQueueLimits) {
    this.#limits = limits
  }

  async run<T>(client: Client, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.running) this.#running++
    else await this.#turnOf(client)
    try {
      return await work()
    } finally {
      this.#next()
    }
  }

  #turnOf({ key, isKnown }: Client): Promise<void> {
    const { waitingPerClient, waiting, refuse } = this.#limits
    const turns = isKnown ? this.#known : this.#unknown
    const queue = turns.get(key) ?? new Queue<() => void>()
    if (queue.size >= waitingPerClient) refuse('client is full')
    if (!isKnown && this.#waiting >= waiting) refuse('queue is full')
    turns.set(key, queue)
    if (!isKnown) this.#waiting++
    return new Promise((resolve) => queue.push(resolve))
  }

  /** Passes the slot of a function that ended to the client whose turn it is. */
  #next(): void {
    const start = takeTurn(this.#known) ?? this.#takeUnknown()
    if (start) start()
    else this.#running--
  }

  #takeUnknown(): (() => void) | undefined {
    const start = takeTurn(this.#unknown)
    if (start) this.#waiting--
    return start
  }
}

/** The waiting functions by client, in the order of their turns. */
type Turns = Map<string, Queue<() => void>>

function takeTurn(turns: Turns): (() => void) | undefined {
  for (const [key, queue] of turns) {
    turns.delete(key)
    const start = queue.shift()
    if (queue.size > 0) turns.set(key, queue)
    return start
  }
  return undefined
}
