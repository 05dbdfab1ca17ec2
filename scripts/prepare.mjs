import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Node's compile cache. It is deleted together with the dependencies. */
export const cacheOf = (root) => join(root, 'node_modules', '.cache', 'parley')

/** The command and the service in few files. Loading a thousand sources takes longer than everything else in a start. */
export const bundleOf = (root) => join(root, 'cli', 'dist', 'main.mjs')

/** What the bundle is made of. cli/bin/parley has the same list. */
const sources = [
  ...['cli/src', 'server/src', 'simulator/src', 'contract/src', 'sdk/src'],
  ...['scripts/bundle.mjs', 'package-lock.json', 'node_modules/.package-lock.json'],
]

/** Bundles the sources if one of them has changed. Returns the file to run: the sources themselves if they cannot be bundled. */
export function prepare(root, node) {
  const bundle = bundleOf(root)
  if (isCurrent(root, bundle)) return bundle
  process.stderr.write('Bundling the sources…\n')
  const { status, error, stderr } = spawnSync(node, [fileURLToPath(new URL('bundle.mjs', import.meta.url))])
  if (status === 0) return bundle
  process.stderr.write(`The sources could not be bundled, so this start is slower. ${error ?? stderr}\n`)
  return join(root, 'cli', 'src', 'main.ts')
}

function isCurrent(root, bundle) {
  try {
    const { mtimeMs } = statSync(bundle)
    return sources.every((path) => !isNewer(join(root, path), mtimeMs))
  } catch {
    return false
  }
}

/** Whether the file, or a file or folder below it, is newer. A folder is newer if a file in it was added or removed. */
function isNewer(path, mtimeMs) {
  const stat = statSync(path)
  if (stat.mtimeMs > mtimeMs && !path.endsWith('.test.ts')) return true
  return stat.isDirectory() && readdirSync(path).some((name) => isNewer(join(path, name), mtimeMs))
}
