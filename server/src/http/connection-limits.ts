const MiB = 1024 * 1024

/** The limits of a process on connections, requests in progress and unread responses. An address is an IPv4 address or an IPv6 /64. */
export interface ConnectionLimits {
  processConnections: number
  addressConnections: number
  processRequests: number
  addressRequests: number
  /** Requests of one connection that have no response yet. */
  connectionRequests: number
  /** Bytes of responses that clients have not read. */
  processUnreadBytes: number
  addressUnreadBytes: number
}

/**
 * Each request in progress takes up to about 30 KB, so 4,000 of them take 120 MB. One address gets a quarter of that: more
 * than a client needs that sends all of a key's rate limit at once. Clients rarely send a second request before they have
 * the first response.
 */
const fixedLimits = {
  processRequests: 4_000,
  addressRequests: 1_000,
  connectionRequests: 100,
  processUnreadBytes: 64 * MiB,
  addressUnreadBytes: 16 * MiB,
}

/** For 1,100 connections to the network, 512 deliveries, the database and files. */
const reservedDescriptors = 2_048

/**
 * Each connection takes a file descriptor. Connections get what is left of the process's limit after a reserve, or half of a
 * small limit. One address gets at most half of the connections.
 */
export function newConnectionLimits(
  settings: { maxConnections: number; maxConnectionsPerAddress: number },
  descriptors = descriptorLimit(),
): ConnectionLimits {
  const available = Math.max(descriptors - reservedDescriptors, Math.floor(descriptors / 2))
  const processConnections = Math.min(settings.maxConnections, available)
  const addressConnections = Math.min(settings.maxConnectionsPerAddress, Math.ceil(processConnections / 2))
  return { ...fixedLimits, processConnections, addressConnections }
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
