import { maxUploadBytes } from '@parley/contract/media'
import { addressBlock } from '../lib/addresses.ts'

const MiB = 1024 * 1024

/**
 * Who sends a body: an address from which WhatsApp posts, any other address to the ingress, or a client of the API or the
 * console; `upload` is a client's file, which is not held as a whole.
 */
export type BodySource = 'network' | 'unverified' | 'client' | 'upload'

interface SourceLimits {
  /** Of one body. */
  bodyBytes: number
  /** Of all bodies of this source. */
  bytes: number
  /** Of all bodies of this source from one address. */
  addressBytes: number
  /** Of all bodies of one workspace, once the request is authenticated. */
  workspaceBytes?: number
  /** Of all bodies whose request is not authenticated, or not yet. */
  unassignedBytes?: number
}

/**
 * How many bytes of request bodies may be in memory at a time. A body counts with the capacity of its buffer, from its
 * first byte until the request no longer needs it; for a webhook that is after the commit.
 */
export interface BodyLimits extends Record<BodySource, SourceLimits> {
  totalBytes: number
  /** Files that are received at a time. Workspaces share them fairly. */
  uploads: number
}

/**
 * For a heap of 512 MB. Parsed JSON takes several times the size of its text, so 64 MiB of bodies leave about half of
 * the heap for everything else. Clients get at most half of the 64 MiB. A webhook is limited to about 64 KiB until its
 * app and the format of its signature are checked. WhatsApp posts from few addresses: one address may have at least
 * eight webhooks of the largest size in progress, or tens of thousands of the usual 1 to 2 KB. Until an address has sent a
 * correctly signed webhook, it may have two, and all such addresses together get half, so that they cannot keep
 * WhatsApp out. A workspace gets a quarter of the memory of clients. Bodies of requests that are not authenticated get at
 * most half of it, so that strangers cannot keep workspaces out.
 */
export const defaultBodyLimits: BodyLimits = {
  totalBytes: 64 * MiB,
  // WhatsApp's webhooks are up to 3 MB.
  network: { bodyBytes: 4 * MiB, bytes: 64 * MiB, addressBytes: 32 * MiB },
  unverified: { bodyBytes: 4 * MiB, bytes: 32 * MiB, addressBytes: 8 * MiB },
  client: {
    bodyBytes: 256 * 1024,
    bytes: 32 * MiB,
    addressBytes: 8 * MiB,
    workspaceBytes: 8 * MiB,
    unassignedBytes: 16 * MiB,
  },
  // At most 128 KiB of each file are in memory. The rest of the body is the frame of its part.
  upload: {
    bodyBytes: maxUploadBytes + 64 * 1024,
    bytes: 8 * MiB,
    addressBytes: 4 * MiB,
    workspaceBytes: 4 * MiB,
    unassignedBytes: 4 * MiB,
  },
  uploads: 16,
}

export type ExceededLimit = 'process_bodies' | 'address_bodies' | 'workspace_bodies'

/** Counts the bytes of request bodies in memory, in total, by source and by address. */
export class BodyMemory {
  readonly #limits: BodyLimits
  readonly #usage = { network: new Usage(), unverified: new Usage(), client: new Usage(), upload: new Usage() }

  constructor(limits: BodyLimits) {
    this.#limits = limits
  }

  get bytes(): number {
    const { network, unverified, client, upload } = this.#usage
    return network.bytes + unverified.bytes + client.bytes + upload.bytes
  }

  lease(source: BodySource, address: string): BodyLease {
    return new BodyLease(
      this.#limits.totalBytes,
      this,
      this.#limits[source],
      this.#usage[source],
      addressBlock(address),
    )
  }
}

class Usage {
  bytes = 0
  unassigned = 0
  readonly byAddress = new Map<string, number>()
  readonly byWorkspace = new Map<string, number>()
}

/** The memory of one body. */
export class BodyLease {
  readonly #totalBytes: number
  readonly #memory: BodyMemory
  readonly #limits: SourceLimits
  readonly #usage: Usage
  readonly #block: string
  #bytes = 0
  #workspaceId: string | undefined

  constructor(totalBytes: number, memory: BodyMemory, limits: SourceLimits, usage: Usage, block: string) {
    this.#totalBytes = totalBytes
    this.#memory = memory
    this.#limits = limits
    this.#usage = usage
    this.#block = block
  }

  /** Counts the body towards its workspace too. If that would exceed a limit, returns the limit. */
  assignTo(workspaceId: string): ExceededLimit | null {
    const { byWorkspace } = this.#usage
    this.#workspaceId = workspaceId
    this.#usage.unassigned -= this.#bytes
    const bytes = (byWorkspace.get(workspaceId) ?? 0) + this.#bytes
    if (bytes > 0) byWorkspace.set(workspaceId, bytes)
    return bytes > (this.#limits.workspaceBytes ?? bytes) ? 'workspace_bodies' : null
  }

  /** Changes the size. If that would exceed a limit, returns the limit and changes nothing. */
  resize(bytes: number): ExceededLimit | null {
    const { byAddress, byWorkspace } = this.#usage
    const more = bytes - this.#bytes
    const ofAddress = (byAddress.get(this.#block) ?? 0) + more
    const ofWorkspace = this.#workspaceId === undefined ? 0 : (byWorkspace.get(this.#workspaceId) ?? 0) + more
    const unassigned = this.#usage.unassigned + (this.#workspaceId === undefined ? more : 0)
    if (more > 0) {
      if (ofAddress > this.#limits.addressBytes) return 'address_bodies'
      if (ofWorkspace > (this.#limits.workspaceBytes ?? ofWorkspace)) return 'workspace_bodies'
      if (this.#workspaceId === undefined && unassigned > (this.#limits.unassignedBytes ?? unassigned))
        return 'process_bodies'
      if (this.#usage.bytes + more > this.#limits.bytes || this.#memory.bytes + more > this.#totalBytes)
        return 'process_bodies'
    }
    this.#bytes = bytes
    this.#usage.bytes += more
    this.#usage.unassigned = unassigned
    setOrDelete(byAddress, this.#block, ofAddress)
    if (this.#workspaceId !== undefined) setOrDelete(byWorkspace, this.#workspaceId, ofWorkspace)
    return null
  }

  /** Safe to call more than once. */
  release(): void {
    if (this.#bytes > 0) this.resize(0)
  }
}

function setOrDelete(map: Map<string, number>, key: string, value: number): void {
  if (value === 0) map.delete(key)
  else map.set(key, value)
}
