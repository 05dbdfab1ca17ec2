import type { ServerResponse } from 'node:http'
import { FairShares } from '../lib/fair-shares.ts'
import type { Overload } from '../lib/overload.ts'
import type { Connections } from './connections.ts'
import type { WorkspaceRequests } from './workspace-requests.ts'

/** Calls `wake` when what the request waits for has happened. Returns a function that ends that. */
export type Subscribe = (wake: () => void) => () => void

/** `ended`: the client has left, or the process stops. */
export type HowEnded = 'woken' | 'over' | 'ended'

/** A request that waits, or has waited. */
export interface HeldRequest {
  /** Waits until `subscribe` calls back, `ms` are over, the client leaves or the process stops. */
  wait(ms: number, subscribe: Subscribe): Promise<HowEnded>
  /** The request is done. */
  end(): void
}

/** How many requests may wait at a time: of a workspace, and of a process. */
export interface HeldLimits {
  workspace: number
  process: number
}

/** A waiting request takes about 30 KB, most of it for its connection. */
export const defaultHeldLimits: HeldLimits = { workspace: 1_000, process: 4_000 }

/** Half of the connections are for requests that do not wait. */
export const heldLimitsWithin = (connections: number): HeldLimits => {
  const process = Math.min(defaultHeldLimits.process, Math.floor(connections / 2))
  return { process, workspace: Math.min(defaultHeldLimits.workspace, Math.ceil(process / 2)) }
}

export interface HeldRequestsOptions {
  connections: Connections
  workspaceRequests: WorkspaceRequests
  overload: Overload
  limits: HeldLimits
}

/**
 * Requests that wait for something to happen. They have limits of their own and do not count as requests in progress, also not
 * when many of them are woken together: those that wait must not keep others out. Workspaces share the places of the process.
 */
export class HeldRequests {
  readonly #options: HeldRequestsOptions
  readonly #places: FairShares
  readonly #waits = new Set<(how: HowEnded) => void>()
  #isStopped = false

  constructor(options: HeldRequestsOptions) {
    this.#options = options
    this.#places = new FairShares(options.limits.process)
  }

  get count(): number {
    return this.#places.taken
  }

  /** Throws if too many wait. Otherwise the request no longer counts as one in progress. */
  begin(response: ServerResponse, workspaceId: string): HeldRequest {
    const { connections, workspaceRequests, overload, limits } = this.#options
    if (this.#places.takenBy(workspaceId) >= limits.workspace || !this.#places.take(workspaceId)) {
      throw overload.refusal('held_requests')
    }
    connections.setAside(response)
    workspaceRequests.end(workspaceId)
    return {
      wait: (ms, subscribe) => this.#wait(response, ms, subscribe),
      end: () => this.#places.release(workspaceId),
    }
  }

  /** Ends all waits, and those that would begin later. */
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
