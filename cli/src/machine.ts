import { statfs } from 'node:fs/promises'
import type { Config } from '@parley/server/config'
import { type Finding, ok, problem, warning } from '@parley/server/domain/health/finding'
import type { Get } from '@parley/server/domain/health/health'
import { readRunning } from './running.ts'

/** Whether Parley is running: where it wrote that it listens, or else at the configured address. */
export async function checkService({ host, port, dataDir, databaseUrl }: Config, get: Get): Promise<Finding> {
  const running = databaseUrl === null ? readRunning(dataDir) : undefined
  if (running === 'stopped') return notRunning('Parley is not running. It was ended without being stopped.')
  if (running === undefined && port === 0) return ok('service', 'Skipped: PORT is 0, so the port is not known.')
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const url = `${running?.url ?? `http://${local.includes(':') ? `[${local}]` : local}:${port}`}/readyz`
  try {
    const { status } = await get(url)
    if (status === 200) return ok('service', `Running and ready at ${url}.`)
    return problem('service', `${url} responds with status ${status}.`, {
      effect:
        status === 503
          ? 'Parley is running, but its database does not respond, has no disk space or needs another version, its clock is wrong, or it is shutting down. The response says which.'
          : null,
      remedy: 'Check the log. If another program uses the port, set PORT.',
    })
  } catch {
    return notRunning(`Parley is not running at ${url}.`)
  }
}

const notRunning = (message: string): Finding =>
  warning('service', message, {
    effect: 'If it runs on another machine, this is fine. Otherwise no messages are received, sent or delivered.',
    remedy: 'Start it: ./parley start',
  })

const gigabyte = 1e9

export async function checkDisk(dataDir: string): Promise<Finding[]> {
  const disk = await statfs(dataDir).catch(() => undefined)
  if (!disk) return []
  const free = disk.bavail * disk.bsize
  const total = disk.blocks * disk.bsize
  const message = `${(free / gigabyte).toFixed(1)} GB of ${(total / gigabyte).toFixed(1)} GB free in ${dataDir}.`
  if (free > 2 * gigabyte) return [ok('disk', message)]
  return [
    (free > 0.3 * gigabyte ? warning : problem)('disk', message, {
      effect: 'PostgreSQL stops when the disk is full. Acknowledged requests and webhooks are not lost.',
      remedy: 'Free disk space, move PARLEY_DATA_DIR to a larger disk, or lower PARLEY_RETENTION_DAYS.',
    }),
  ]
}
