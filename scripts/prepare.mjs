import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Node's compile cache, and what else shortens the start. It is deleted together with the dependencies. */
export const cacheOf = (root) => join(root, 'node_modules', '.cache', 'parley')

/**
 * Prepares quick starts once after each installation. The file `prepared` then tells cli/bin/parley that it can run the
 * sources directly.
 */
export function prepare(root, node) {
  const cache = cacheOf(root)
  const stamp = join(cache, 'prepared')
  const locks = [join(root, 'package-lock.json'), join(root, 'node_modules', '.package-lock.json')]
  try {
    if (existsSync(stamp) && locks.every((lock) => statSync(lock).mtimeMs < statSync(stamp).mtimeMs)) return
    mkdirSync(cache, { recursive: true })
    if (!existsSync(bundleOf(root)))
      spawnSync(node, [fileURLToPath(new URL('bundle-typebox.mjs', import.meta.url)), bundleOf(root)])
    writeFileSync(stamp, '')
  } catch {
    // The folder cannot be written, as in a container. Everything works without it.
  }
}

/** TypeBox as one file. It has 370 modules, and loading them takes longer than everything else together. */
export function bundleOf(root) {
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules', 'typebox', 'package.json'), 'utf8'))
  return join(cacheOf(root), `typebox-${version}.mjs`)
}
