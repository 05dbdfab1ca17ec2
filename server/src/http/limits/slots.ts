import { FairShares } from '../../sharing/fair-shares.ts'
import type { Overload, OverloadLimit } from '../../sharing/overload.ts'

export interface SlotLimits {
  /** Of the process. Workspaces share them: one alone gets at most half, two busy ones a third each, and so on. */
  total: number
  /** Of one workspace, however many are free. */
  each?: number
}

/** Slots of one kind, which limit what workspaces do at a time. */
export class WorkspaceSlots {
  readonly #limit: OverloadLimit
  readonly #each: number
  readonly #shares: FairShares
  readonly #overload: Overload

  constructor(limit: OverloadLimit, { total, each = total }: SlotLimits, overload: Overload) {
    this.#limit = limit
    this.#each = each
    this.#shares = new FairShares(total)
    this.#overload = overload
  }

  get taken(): number {
    return this.#shares.taken
  }

  /** Takes a slot. Throws if the workspace has its share already. Call `release` when it is done. */
  take(workspaceId: string): void {
    if (this.#shares.takenBy(workspaceId) < this.#each && this.#shares.take(workspaceId)) return
    throw this.#overload.refusal(this.#limit)
  }

  release(workspaceId: string): void {
    this.#shares.release(workspaceId)
  }
}
