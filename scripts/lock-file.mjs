// A lock file has to name the packages of every platform, or `npm ci` refuses it on all of them. npm leaves those out that
// the registry at hand does not have. `node scripts/lock-file.mjs` names them again; a test sees to it that none is missing.
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(import.meta.url)
const file = join(dirname(dirname(here)), 'package-lock.json')

/** The optional dependencies that some package of the lock file asks for and the lock file does not have. */
export function missingPackages(packages) {
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {}, dev }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !isThere(packages, path, name))
      .map(([name, version]) => ({ name, version, dev: dev === true })),
  )
}

/** As Node looks for a package: beside the one that asks, then in every folder above. */
function isThere(packages, path, name) {
  for (let folder = path; ; folder = folder.replace(/(^|\/)[^/]+$/, '')) {
    if (!folder.endsWith('node_modules') && packages[join(folder, 'node_modules', name)]) return true
    if (folder === '') return false
  }
}

/** Without the checksum, which only a registry that has the package could tell. */
export function entryFor({ name, version, dev }) {
  const { os, cpu, libc } = platformOf(name)
  return { version, cpu: [cpu], ...(dev && { dev }), ...(libc && { libc: [libc] }), optional: true, os: [os] }
}

/** By the custom of such names: `…-linux-x64-musl`, `…-win32-arm64-msvc`. */
function platformOf(name) {
  const [, os, cpu, abi = ''] = /(?:^|-|\/)([a-z]+(?:32)?)-([a-z0-9]+)(?:-([a-z]+))?$/.exec(name) ?? []
  if (!os || !cpu) throw new Error(`${name} does not tell its platform; add it to package-lock.json by hand`)
  if (os === 'wasm32') return { os: cpu, cpu: os }
  const libc = os === 'linux' ? { musl: 'musl', gnu: 'glibc' }[abi] : undefined
  return { os, cpu, libc }
}

if (here === realpathSync(process.argv[1] ?? '.')) {
  const lock = JSON.parse(readFileSync(file, 'utf8'))
  const missing = missingPackages(lock.packages)
  for (const each of missing) lock.packages[`node_modules/${each.name}`] = entryFor(each)
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')))
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
  for (const { name } of missing) console.log(`named ${name}`)
  console.log(missing.length === 0 ? 'Nothing was missing.' : `${missing.length} packages were missing.`)
}
