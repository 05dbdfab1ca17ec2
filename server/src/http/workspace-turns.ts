import type { Overload } from '../lib/overload.ts'
import { Queue } from '../lib/queue.ts'

export interface TurnLimits {
  /** How many requests of a workspace use the database at the same time. */
  running: number
  /** How many requests of a workspace are in progress. */
  inProgress: number
}

/**
 * Half of the connections to the database, so that one workspace cannot use all of them. Five times the highest
 * rate limit of a key may be in progress, and half of what one address may have.
 */
export const defaultTurnLimits: TurnLimits = { running: 5, inProgress: 500 }

/** The requests of one workspace. */
export interface WorkspaceRequests {
  inProgress: number
  running: number
  waiting: Queue<() => void>
}

/** Shares the database between workspaces: the requests of one that sends many wait for each other. */
export class WorkspaceTurns {
  readonly #limits: TurnLimits
  readonly #overload: Overload
  readonly #workspaces = new Map<string, WorkspaceRequests>()

  constructor(limits: TurnLimits, overload: Overload) {
    this.#limits = limits
    this.#overload = overload
  }

  /** Call `end` with the result when the request is done. Throws if the workspace has too many in progress. */
  begin(workspaceId: string): WorkspaceRequests {
    let workspace = this.#workspaces.get(workspaceId)
    if (!workspace) {
      workspace = { inProgress: 0, running: 0, waiting: new Queue() }
      this.#workspaces.set(workspaceId, workspace)
    }
    if (workspace.inProgress >= this.#limits.inProgress) throw this.#overload.refusal('workspace_requests')
    workspace.inProgress++
    return workspace
  }

  end(workspaceId: string, workspace: WorkspaceRequests): void {
    if (--workspace.inProgress === 0) this.#workspaces.delete(workspaceId)
  }

  /** Runs `work` when it is the turn of this request. */
  async run<Result>(workspace: WorkspaceRequests, work: () => Result | Promise<Result>): Promise<Result> {
    if (workspace.running < this.#limits.running) workspace.running++
    else await new Promise<void>((resolve) => workspace.waiting.push(resolve))
    try {
      return await work()
    } finally {
      // The turn passes to the request that has waited longest.
      const next = workspace.waiting.shift()
      if (next) next()
      else workspace.running--
    }
  }
}
