import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..', '..')

/** The peers' benchmark is not part of this repository. */
export const peersFolder = (): string =>
  resolve(root, process.env.BENCH_PEERS || join('..', 'shared', 'bench', 'peers'))

/** Why it cannot run; null if it can. */
export function missingPeers(): string | null {
  const folder = peersFolder()
  if (!existsSync(join(folder, 'run.mjs'))) return `${folder} does not exist; BENCH_PEERS can name another folder`
  if (!existsSync(join(folder, 'node_modules')))
    return `run npm install in ${folder}, or in a copy named by BENCH_PEERS`
  return null
}
