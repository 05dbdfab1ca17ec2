import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../server/testing/temp-folder.ts'

interface Sbom {
  bomFormat: string
  metadata: { component: { name: string; type: string } }
  components: { name: string; version: string; purl: string; hashes?: { alg: string; content: string }[] }[]
}

test('npm run sbom writes a CycloneDX document of the packages that the service runs, with checksums', () => {
  const file = join(tempFolder(), 'sbom.json')
  const root = join(import.meta.dirname, '..')
  const { status, stderr } = spawnSync('npm', ['run', 'sbom', '--', file], { cwd: root, encoding: 'utf8' })
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
  const { bomFormat, metadata, components } = JSON.parse(readFileSync(file, 'utf8')) as Sbom
  expect({ bomFormat, ...metadata.component }).toMatchObject({
    bomFormat: 'CycloneDX',
    name: 'parley',
    type: 'application',
  })
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; dev?: boolean; link?: boolean }>
  }
  const fastify = components.find(({ name }) => name === 'fastify')
  expect(fastify).toMatchObject({
    version: lock.packages['node_modules/fastify']?.version,
    hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
  })
  const names = components.map(({ name }) => name)
  for (const development of ['vitest', 'typescript', 'playwright-core']) expect(names).not.toContain(development)
  // Every package of the lock file that is not for development, and the workspaces of this repository.
  const installed = Object.entries(lock.packages).filter(
    ([path, { dev, link }]) => /(^|\/)node_modules\//.test(path) && !dev && !link,
  )
  const expected = installed.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`)
  const listed = components.map(({ purl }) => decodeURIComponent(purl.replace('pkg:npm/', '')))
  expect([...new Set(expected)].filter((each) => !listed.includes(each))).toEqual([])
  const unhashed = components.filter(({ hashes }) => !hashes).map(({ purl }) => decodeURIComponent(purl))
  expect(unhashed.filter((purl) => !purl.startsWith('pkg:npm/@parley/'))).toEqual([])
})
