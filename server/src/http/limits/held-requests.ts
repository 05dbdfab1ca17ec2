import type { ServerResponse } from 'node:http'
import type { Connections } from './connections.ts'
import type { WorkspaceSlots } from './slots.ts'

/** Calls `wake` when what the request waits for has happened. Returns a function that ends that. */
export type Subscribe = (wake: () => void) => () => void

/** `ended`: the client has left, or the process stops. */
export type HowEnded = 'woken' | 'over' | 'ended'

export interface HeldRequest {
  /** Waits until `subscribe` calls back, `ms` are over, the client leaves or the process stops. */
  wait(ms: number, subscribe: Subscribe): Promise<HowEnded>
  end(): void
}

export interface HeldRequestsOptions {
  connections: Connections
  /** Those of requests in progress, and of requests that wait. */
  requests: WorkspaceSlots
  held: WorkspaceSlots
}

/**
 * Requests that wait for something to happen. They have limits of their own and do not count as requests in progress,
 * not even when many of them are woken together: waiting requests must not keep others out. Workspaces share the slots
 * of the process.
 */
export class HeldRequests {
  readonly #options: HeldRequestsOptions
  readonly #waits = new Set<(how: HowEnded) => void>()
  #isStopped = false

  constructor(options: HeldRequestsOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#options.held.taken
  }

  /** Throws if too many wait. Otherwise the request no longer counts as one in progress. */
  begin(response: ServerResponse, workspaceId: string): HeldRequest {
    const { connections, requests, held } = this.#options
    held.take(workspaceId)
    connections.setAside(response)
    requests.release(workspaceId)
    return {
      wait: (ms, subscribe) => this.#wait(response, ms, subscribe),
      end: () => held.release(workspaceId),
    }
  }

  /** Ends all waits, including later ones. */
  stop(): void {
    this.#isStopped = true
    for (const end of this.#waits) end('ended')
  }

  #wait(response: ServerResponse, ms: number, subscribe: Subscribe): Promise<HowEnded> {
    if (this.#isStopped || response.destroyed) return Promise.resolve('ended')
    return new Promise((resolve) => {
      const endings: (() => void)[] = []
      const end = (how: HowEnded) => {
        this.#waits.delete(end)
        for (const each of endings) each()
        resolve(how)
      }
      this.#waits.add(end)
      const timer = setTimeout(() => end('over'), ms)
      endings.push(() => clearTimeout(timer))
      endings.push(subscribe(() => end('woken')))
      endings.push(this.#options.connections.onLeft(response, () => end('ended')))
    })
  }
}
