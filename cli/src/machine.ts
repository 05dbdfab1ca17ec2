import { statfs } from 'node:fs/promises'
import type { Config } from '@parley/server/config'
import { type Finding, ok, problem, warning } from '@parley/server/domain/health/finding'
import type { Get } from '@parley/server/domain/health/health'

/** Whether the service runs where the settings say. */
export async function checkService({ host, port }: Pick<Config, 'host' | 'port'>, get: Get): Promise<Finding> {
  if (port === 0) return ok('service', 'PORT is 0: it may be anywhere, and was not looked for.')
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const url = `http://${local.includes(':') ? `[${local}]` : local}:${port}/readyz`
  try {
    const { status } = await get(url)
    if (status === 200) return ok('service', `It runs and is ready at ${url}.`)
    return problem('service', `What answers at ${url} says ${status}.`, {
      means: status === 503 ? 'It runs, but its database does not answer, or it is about to stop.' : null,
      advice: 'Look at its log; if something else has the port, set PORT.',
    })
  } catch {
    return warning('service', `Nothing answers at ${url}.`, {
      means: 'If it runs elsewhere, that is as it should be; else nothing is received, sent or delivered.',
      advice: 'npm start, or npx parley start',
    })
  }
}

const gigabyte = 1e9

export async function checkDisk(dataDir: string): Promise<Finding[]> {
  const found = await statfs(dataDir).catch(() => undefined)
  if (!found) return []
  const free = found.bavail * found.bsize
  const says = `${(free / gigabyte).toFixed(1)} GB free of ${((found.blocks * found.bsize) / gigabyte).toFixed(1)} GB in ${dataDir}.`
  if (free > 2 * gigabyte) return [ok('disk', says)]
  return [
    (free > 0.3 * gigabyte ? warning : problem)('disk', says, {
      means: 'PostgreSQL stops when it cannot write. Nothing that was acknowledged is lost by that.',
      advice: 'Free some space, move PARLEY_DATA_DIR, or lower PARLEY_RETENTION_DAYS.',
    }),
  ]
}
