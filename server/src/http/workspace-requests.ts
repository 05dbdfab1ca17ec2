import type { Overload } from '../lib/overload.ts'

/**
 * How many requests of a workspace are in progress. Five times the highest rate limit of a key, and half of what one
 * address may have.
 */
export const defaultRequestsPerWorkspace = 500

/**
 * Limits the requests of one workspace in progress. They share the database with those of other workspaces:
 * `db/workspace-share.ts`.
 */
export class WorkspaceRequests {
  readonly #max: number
  readonly #overload: Overload
  readonly #inProgress = new Map<string, number>()

  constructor(max: number, overload: Overload) {
    this.#max = max
    this.#overload = overload
  }

  /** Call `end` when the request is done. Throws if the workspace has too many in progress. */
  begin(workspaceId: string): void {
    const count = this.#inProgress.get(workspaceId) ?? 0
    if (count >= this.#max) throw this.#overload.refusal('workspace_requests')
    this.#inProgress.set(workspaceId, count + 1)
  }

  end(workspaceId: string): void {
    const count = this.#inProgress.get(workspaceId) ?? 0
    if (count > 1) this.#inProgress.set(workspaceId, count - 1)
    else this.#inProgress.delete(workspaceId)
  }
}
