import type { SlotLimits } from './slots.ts'

const MiB = 1024 * 1024

/**
 * Caps connections, requests and memory, in total and per client address (IPv4, or an IPv6 /64). `connections.ts`
 * applies the limits of connections and requests, `bytes.ts` those of bytes, and `slots.ts` those of workspaces.
 */
export interface Limits {
  processConnections: number
  addressConnections: number
  /** Requests in progress. */
  processRequests: number
  addressRequests: number
  /** Requests of one connection that have no response yet. */
  connectionRequests: number
  bytes: ByteLimits
  /** Bytes of webhooks with a wrong signature, of one address and app. */
  wrongSignatures: { max: number; windowMs: number; maxKeys: number }
  /** Requests of workspaces in progress. */
  requests: SlotLimits
  /** Requests that wait for events. */
  heldRequests: SlotLimits
  uploads: SlotLimits
  liveStreams: number
  timeouts: ClientTimeouts
}

export type ByteLimits = typeof defaultByteLimits

/**
 * For a heap of 512 MB. Parsed JSON takes several times the size of its text, so 64 MiB of bodies leave about half of the heap
 * for other data. Clients of the API and the console leave a quarter of the 64 MiB for WhatsApp, which posts from few addresses. One address may
 * have eight webhooks of the largest size in progress, or tens of thousands of the usual 1 to 2 KB. Until its first webhook is
 * verified, for example after a restart, it may have one of the largest size.
 */
export const defaultByteLimits = {
  /** Of all request bodies. */
  process: 64 * MiB,
  stranger: { all: 16 * MiB, each: 8 * MiB },
  unverified: { all: 8 * MiB, each: 4 * MiB },
  workspace: { all: 24 * MiB, each: 8 * MiB },
  network: { all: 64 * MiB, each: 32 * MiB },
  /** Of responses that clients have not read. */
  unread: { all: 64 * MiB, each: 16 * MiB },
}

/**
 * Each request in progress takes up to about 30 KB, so 4,000 of them take 120 MB. One address gets a quarter of that: more
 * than a client needs to send a key's whole rate limit at the same time. A workspace gets 500, half of the limit of
 * an address. Clients rarely send a second request before they have the first response.
 */
const fixedLimits = {
  processRequests: 4_000,
  addressRequests: 1_000,
  connectionRequests: 100,
  requests: { total: 4_000, each: 500 },
  bytes: defaultByteLimits,
  // Two of the largest webhooks at the same time, then as many as a hundredth of a core reads and verifies. With a wrong app
  // secret, the network exceeds this. It repeats the webhooks, and they are accepted once the secret is right.
  wrongSignatures: { max: 8 * MiB, windowMs: 8_000, maxKeys: 10_000 },
  uploads: { total: 16 },
  liveStreams: 1_000,
}

/** For 1,100 connections to the network, 512 deliveries, the database and files. */
const reservedDescriptors = 2_048

/**
 * Each connection takes a file descriptor. Connections get the rest of the process's limit after a reserve, or half of a
 * small limit. One address gets at most half of the connections, and all waiting requests together get at most half of them.
 */
export function newLimits(
  settings: { maxConnections: number; maxConnectionsPerAddress: number },
  descriptors = descriptorLimit(),
): Limits {
  const available = Math.max(descriptors - reservedDescriptors, Math.floor(descriptors / 2))
  const processConnections = Math.min(settings.maxConnections, available)
  const addressConnections = Math.min(settings.maxConnectionsPerAddress, Math.ceil(processConnections / 2))
  // A waiting request takes about 30 KB, most of it for its connection.
  const held = Math.min(4_000, Math.floor(processConnections / 2))
  const heldRequests = { total: held, each: Math.min(1_000, Math.ceil(held / 2)) }
  return { ...fixedLimits, processConnections, addressConnections, heldRequests, timeouts: defaultClientTimeouts }
}

export type ClientTimeouts = typeof defaultClientTimeouts

/**
 * How long a client may take. Together, these limits end every request within 30 seconds, with a response or without.
 * Only uploads may take longer.
 */
export const defaultClientTimeouts = {
  /** Until the headers have arrived. */
  headersMs: 15_000,
  /** For the body, from the moment the handler requests it. */
  bodyMs: 20_000,
  /** Until the whole request has arrived; for bodies that no handler reads. */
  requestMs: 27_000,
  /** For a file, from the moment the handler requests it: 100 MB at 1 Mbit/s. */
  uploadMs: 15 * 60_000,
  /** Without a byte of a file. */
  uploadIdleMs: 20_000,
  /** How long the rest of a refused file is discarded, so that the client gets the response. */
  discardMs: 10_000,
  /** Without a request. Longer than usual for proxies, so that they close a connection first. */
  keepAliveMs: 75_000,
  /**
   * With a request, and without a byte in either direction: the client does not read the response. Longer than the slowest
   * request waits for the database.
   */
  stalledMs: 60_000,
  checkMs: 2_000,
  /** How often the permission to watch a stream is checked. */
  streamCheckMs: 30_000,
}

let knownLimit: number | undefined

/** How many files and connections this process may have open (`ulimit -n`). It does not change while the process runs. */
function descriptorLimit(): number {
  knownLimit ??= readDescriptorLimit()
  return knownLimit
}

function readDescriptorLimit(): number {
  // Not in the types yet. Otherwise the report looks up the names of all connections.
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork: boolean }
  report.excludeNetwork = true
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } }
  const limit = userLimits?.open_files?.soft
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY
}
