// Writes a software bill of materials (CycloneDX) of what an installation runs: `npm run sbom [file]`.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const file = process.argv[2] ?? join(root, 'sbom.cdx.json')

const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only']
const { status, stdout, stderr } = spawnSync('npm', ['sbom', ...options], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
})
if (status !== 0) {
  console.error(`npm sbom failed: ${stderr}`)
  process.exit(1)
}
const sbom = JSON.parse(stdout)
// Not with `--omit dev`, which also leaves out packages of the service that a development tool needs as well.
const isDevelopment = ({ properties = [] }) => properties.some(({ name }) => name === 'cdx:npm:package:development')
const left = new Set(sbom.components.filter(isDevelopment).map((component) => component['bom-ref']))
sbom.components = sbom.components.filter((component) => !left.has(component['bom-ref']))
sbom.dependencies = sbom.dependencies
  .filter(({ ref }) => !left.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => !left.has(each)) }))
// npm uses the name of the folder.
sbom.metadata.component.name = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).name
// npm writes a random serial number and the time. Those of the contents and of the commit make the same file of the same sources.
delete sbom.metadata.timestamp
const [, ...parts] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(sha256(JSON.stringify({ ...sbom, serialNumber: '' })))
sbom.serialNumber = `urn:uuid:${parts[0]}-${parts[1]}-8${parts[2]}-8${parts[3]}-${parts[4]}`
const commit = spawnSync('git', ['log', '-1', '--format=%cI'], { cwd: root, encoding: 'utf8' })
if (commit.status === 0) sbom.metadata.timestamp = new Date(commit.stdout.trim()).toISOString()
writeFileSync(file, `${JSON.stringify(sbom, null, 2)}\n`)
console.log(`Wrote ${sbom.components.length} components to ${file}`)

function sha256(text) {
  return createHash('sha256').update(text).digest('hex')
}
