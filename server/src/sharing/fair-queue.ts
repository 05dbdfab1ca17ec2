import { Turns } from './turns.ts'

/** Who a request counts as: a person whose browser is known, or a client address. */
export interface Client {
  key: string
  isKnown: boolean
}

export interface FairQueueLimits {
  /** How many functions run at a time: of all owners, and of one. */
  running?: number
  runningPerOwner?: number
  waitingPerOwner?: number
  /** How many functions may wait that do not go first. */
  waiting?: number
  waitMs?: number
  /** The error of a function that may not wait, or not any longer. */
  refusal(reason: 'owner is full' | 'queue is full' | 'waited too long'): Error
}

interface Owner {
  running: number
  waiting: number
}

/** Runs a limited number of functions at a time. The others wait, and their owners take turns. */
export class FairQueue {
  readonly #limits: Required<Omit<FairQueueLimits, 'waitMs'>> & { waitMs: number | undefined }
  readonly #owners = new Map<string, Owner>()
  readonly #first = new Turns<() => void>()
  readonly #others = new Turns<() => void>()
  #running = 0
  #waiting = 0

  constructor(limits: FairQueueLimits) {
    const unlimited = Number.POSITIVE_INFINITY
    const defaults = { running: unlimited, runningPerOwner: unlimited, waitingPerOwner: unlimited, waiting: unlimited }
    this.#limits = { ...defaults, waitMs: undefined, ...limits }
  }

  /** `goesFirst`: before all who do not, and a queue that is full of those does not affect it. */
  async run<T>(name: string, work: () => Promise<T>, goesFirst = false): Promise<T> {
    const owner = this.#owners.get(name) ?? { running: 0, waiting: 0 }
    if (this.#running < this.#limits.running && this.#mayRun(owner)) this.#begin(name, owner)
    else await this.#turnOf(name, owner, goesFirst)
    try {
      return await work()
    } finally {
      this.#end(name, owner)
    }
  }

  #mayRun({ running }: Owner): boolean {
    return running < this.#limits.runningPerOwner
  }

  #begin(name: string, owner: Owner): void {
    if (owner.running === 0) this.#owners.set(name, owner)
    owner.running++
    this.#running++
  }

  #turnOf(name: string, owner: Owner, goesFirst: boolean): Promise<void> {
    const { waitingPerOwner, waiting, waitMs, refusal } = this.#limits
    if (owner.waiting >= waitingPerOwner) throw refusal('owner is full')
    if (!goesFirst && this.#waiting >= waiting) throw refusal('queue is full')
    this.#owners.set(name, owner)
    const turns = goesFirst ? this.#first : this.#others
    const count = (change: number) => {
      owner.waiting += change
      if (!goesFirst) this.#waiting += change
    }
    count(1)
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer)
        count(-1)
        this.#begin(name, owner)
        resolve()
      }
      const giveUp = () => {
        turns.delete(name, start)
        count(-1)
        this.#forgetIdle(name, owner)
        reject(refusal('waited too long'))
      }
      const timer = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs).unref()
      turns.add(name, start)
    })
  }

  /** Passes the slot of a function that ended to the owner whose turn it is. */
  #end(name: string, owner: Owner): void {
    owner.running--
    this.#running--
    const start = this.#first.next(itself, this.#mayGo) ?? this.#others.next(itself, this.#mayGo)
    start?.()
    this.#forgetIdle(name, owner)
  }

  readonly #mayGo = (name: string): boolean => this.#mayRun(this.#owners.get(name) as Owner)

  #forgetIdle(name: string, { running, waiting }: Owner): void {
    if (running === 0 && waiting === 0) this.#owners.delete(name)
  }
}

const itself = (start: () => void): (() => void) => start
