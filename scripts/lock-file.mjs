// A lock file has to list the packages of every platform, or `npm ci` rejects it on all of them. npm leaves out those that
// the registry in use does not have. `node scripts/lock-file.mjs` adds them, and the checksums that the registry in use can
// provide; tests check that no package is missing and which checksums are.
import { spawnSync } from 'node:child_process'
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(import.meta.url)
const file = join(dirname(dirname(here)), 'package-lock.json')

/** The optional dependencies of packages in the lock file that are missing from it. */
export function missingPackages(packages) {
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {}, dev }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !isLocked(packages, path, name))
      .map(([name, version]) => ({ name, version, dev: dev === true })),
  )
}

/** Resolves a package as Node does: in the folder of the dependent package, then in every parent folder. */
function isLocked(packages, path, name) {
  for (let folder = path; ; folder = folder.replace(/(^|\/)[^/]+$/, '')) {
    if (!folder.endsWith('node_modules') && packages[join(folder, 'node_modules', name)]) return true
    if (folder === '') return false
  }
}

/** Without a checksum, which only a registry with the package could provide. */
export function entryFor({ name, version, dev }) {
  const { os, cpu, libc } = platformOf(name)
  return { version, cpu: [cpu], ...(dev && { dev }), ...(libc && { libc: [libc] }), optional: true, os: [os] }
}

/** The names of packages without a checksum: `npm ci` could not tell if it gets another file. */
export function withoutChecksum(packages) {
  return Object.entries(packages)
    .filter(([path, { link, integrity }]) => /(^|\/)node_modules\//.test(path) && !link && integrity === undefined)
    .map(([path]) => path.replace(/^.*node_modules\//, ''))
}

/** Where the registry in use has the package, and its checksum; undefined if it does not have it. */
function published({ name, version }) {
  const { stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'dist', '--json'], { encoding: 'utf8' })
  try {
    const { tarball, integrity } = JSON.parse(stdout)
    return tarball && integrity ? { resolved: tarball, integrity } : undefined
  } catch {
    return undefined
  }
}

/** Such names follow a convention: `…-linux-x64-musl`, `…-win32-arm64-msvc`. */
function platformOf(name) {
  const [, os, cpu, abi = ''] = /(?:^|-|\/)([a-z]+(?:32)?)-([a-z0-9]+)(?:-([a-z]+))?$/.exec(name) ?? []
  if (!os || !cpu) throw new Error(`The platform of ${name} is unknown. Add it to package-lock.json manually.`)
  if (os === 'wasm32') return { os: cpu, cpu: os }
  const libc = os === 'linux' ? { musl: 'musl', gnu: 'glibc' }[abi] : undefined
  return { os, cpu, libc }
}

if (here === realpathSync(process.argv[1] ?? '.')) {
  const lock = JSON.parse(readFileSync(file, 'utf8'))
  const missing = missingPackages(lock.packages)
  for (const each of missing) lock.packages[`node_modules/${each.name}`] = entryFor(each)
  for (const name of withoutChecksum(lock.packages)) {
    const { version, ...entry } = lock.packages[`node_modules/${name}`]
    const found = published({ name, version })
    if (found) lock.packages[`node_modules/${name}`] = { version, ...found, ...entry }
    else console.log(`no checksum for ${name}: the registry does not have it`)
  }
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')))
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
  for (const { name } of missing) console.log(`added ${name}`)
  console.log(missing.length === 0 ? 'No packages were missing.' : `${missing.length} packages were missing.`)
}
