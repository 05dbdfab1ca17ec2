import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { testNumbers } from '../../cli/src/test-numbers.ts'
import { CommandServer } from '../../cli/testing/command-server.ts'
import { blocksOf, docsFiles, isRun } from '../../scripts/docs-blocks.ts'
import { newFolder, removeFolder } from '../../server/testing/data-dir.ts'
import { preparedParley } from '../../server/testing/prepared-data-dir.ts'
import { startReceiver } from '../../server/testing/receiver.ts'
import { until } from '../../server/testing/until.ts'
import { freePort } from '../../testing/src/free-port.ts'
import { verifyWebhook } from '../src/verify.ts'
import { useService } from '../testing/service.ts'
import { compile } from './compiler.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const sdk = join(root, 'sdk')
/** As in a terminal: without the variables and folders that `npm test` adds. */
const env = {
  HOME: process.env.HOME,
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((each) => !each.includes('node_modules'))
    .join(delimiter),
}
const service = useService()

const folder = newFolder()
const project = join(folder, 'project')
const installed = join(project, 'node_modules', '@parley', 'sdk')
/** A folder in it with vitest, in which the guide to testing is followed. */
const guide = join(project, 'guide')
afterAll(() => removeFolder(folder))

/** Unpacks the tarballs, as npm does if there are no dependencies, in a project that shares only the types of Node with this repository. */
beforeAll(async () => {
  // Packing the first builds both.
  for (const name of ['testing', 'sdk']) {
    const options = [`--ignore-scripts=${name === 'sdk'}`, '--pack-destination', folder]
    await run('npm', ['pack', ...options], { cwd: join(root, name), env })
    const to = join(project, 'node_modules', '@parley', name)
    mkdirSync(to, { recursive: true })
    await run('tar', ['xzf', join(folder, tarballIn(folder, name)), '-C', to, '--strip-components', '1'])
  }
  writeFileSync(join(project, 'package.json'), '{ "name": "example", "type": "module", "private": true }')
  copyFileSync(
    join(import.meta.dirname, '..', 'testing', 'installed-package.ts'),
    join(project, 'installed-package.ts'),
  )
  mkdirSync(join(guide, 'node_modules'), { recursive: true })
  symlinkSync(join(root, 'node_modules', 'vitest'), join(guide, 'node_modules', 'vitest'))
}, 240_000)

test('the package has no dependencies and no other files', () => {
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  expect(manifest).toMatchObject({ name: '@parley/sdk', license: 'MIT', type: 'module', sideEffects: false })
  for (const name of ['private', 'dependencies', 'devDependencies']) {
    expect(manifest).not.toHaveProperty(name)
  }
  // Otherwise npm takes a package with a scope for a private one.
  expect(manifest.publishConfig).toEqual({ access: 'public' })
  // npm does not run this one when the package is installed.
  expect(Object.keys(manifest.scripts)).toEqual(['prepack'])
  expect(readdirSync(installed).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])
  const files = readdirSync(join(installed, 'dist'), { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  )
  expect(files.length).toBeGreaterThan(100)
  // The command line is for Node only.
  const forAll = files.filter(({ parentPath }) => parentPath !== join(installed, 'dist', 'cli'))
  expect(files.length - forAll.length).toBe(1)
  for (const { name, parentPath } of forAll) {
    const text = readFileSync(join(parentPath, name), 'utf8')
    const foreign = [...text.matchAll(/(?:from|import|require)\s*\(?\s*['"]([^'"]+)['"]/g)].filter(
      ([, to = '']) => !/^\.\/[\w-]+\.js$/.test(to),
    )
    expect(
      foreign.map(([statement]) => statement),
      name,
    ).toEqual([])
    expect(text, name).not.toMatch(/\bprocess\b|\bBuffer\b/)
  }
})

test('every export can be imported by the Node of this machine, without options', async () => {
  const { exports } = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { default?: string }>
  }
  // One of them has only types.
  const names = Object.entries(exports).flatMap(([name, to]) => (typeof to === 'object' && to.default ? [name] : []))
  expect(names.length).toBeGreaterThan(4)
  const imports = names.map((name) => `import(${JSON.stringify(name.replace('.', '@parley/sdk'))})`)
  const program = `console.log((await Promise.all([${imports}])).map((each) => Object.keys(each).length > 0).join())`
  const { stdout } = await run('node', ['--input-type=module', '-e', program], { cwd: project, env })
  expect(stdout).toBe(`${names.map(() => 'true')}\n`)
})

test('every export can be required, by a Node that cannot require modules too', async () => {
  const names = ['@parley/sdk', ...['express', 'fastify', 'fetch', 'hono'].map((name) => `@parley/sdk/${name}`)]
  const program = `for (const name of ${JSON.stringify(names)})
    console.log(require.resolve(name).replaceAll('\\\\', '/').split('@parley/sdk/')[1], Object.keys(require(name)).length > 0)`
  const { stdout } = await run('node', ['--input-type=commonjs', '-e', program], { cwd: project, env })
  const files = ['sdk', 'express', 'fastify', 'fetch', 'hono'].map((name) => `dist/cjs/${name}.js true\n`)
  expect(stdout).toBe(files.join(''))
})

test('npm pack -w sdk packs only a note, because npm runs no build there', async () => {
  const { stdout } = await run('npm', ['pack', '-w', 'sdk', '--dry-run', '--json'], { cwd: root, env })
  const [packed] = Object.values(JSON.parse(stdout)) as { files: { path: string }[] }[]
  expect(packed?.files.map(({ path }) => path).sort()).toEqual(['README.md', 'package.json'])
})

test('npm run pack -w sdk creates the same package', async () => {
  await run('npm', ['run', 'pack', '-w', 'sdk'], { cwd: root, env })
  const tarball = join(sdk, tarballIn(folder))
  onTestFinished(() => rmSync(tarball, { force: true }))
  expect(readFileSync(tarball).equals(readFileSync(join(folder, tarballIn(folder))))).toBe(true)
})

test('the manifests of the package and of its sources have the same version', () => {
  const [published, sources] = ['package.json', 'src/package.json'].map((name) =>
    JSON.parse(readFileSync(join(sdk, name), 'utf8')),
  )
  expect(sources).toMatchObject({ name: published.name, version: published.version, engines: published.engines })
})

test('its types are identical to those of the contract, and all TypeScript of the documentation compiles with it', async () => {
  const names = [...readFileSync(join(root, 'sdk', 'src', 'contract.ts'), 'utf8').matchAll(/export type \{([^}]+)\}/g)]
    .flatMap(([, list = '']) => list.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'List' && name !== 'EventOf')
  expect(names.length).toBeGreaterThan(30)
  const lines = [
    `import type * as Published from '${join(installed, 'dist', 'contract.js')}'`,
    `import type * as Source from '${join(root, 'sdk', 'src', 'contract.ts')}'`,
    'type Flat<T> = T extends (infer Item)[] ? Flat<Item>[] : T extends object ? { [K in keyof T]: Flat<T[K]> } : T',
    'type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false',
    'export const same: Record<string, true> = {',
    ...names.map((name) => `  ${name}: null as unknown as Same<Flat<Published.${name}>, Flat<Source.${name}>>,`),
    "  List: null as unknown as Same<Flat<Published.List<'x'>>, Flat<Source.List<'x'>>>,",
    "  EventOf: null as unknown as Same<Flat<Published.EventOf<'message.read'>>, Flat<Source.EventOf<'message.read'>>>,",
    '}',
  ]
  writeFileSync(join(project, 'same.ts'), lines.join('\n'))
  const blocks = docsFiles()
    .flatMap(blocksOf)
    .filter((block) => isRun(block) && block.language === 'ts')
  expect(blocks.length).toBeGreaterThan(12)
  const files = blocks.map(({ file, line, text }) => {
    const name = `${file.replaceAll('/', '-')}-${line}.ts`
    writeFileSync(join(project, name), text)
    return name
  })
  copyFileSync(join(root, 'e2e', 'docs', 'given.ts'), join(project, 'given.ts'))
  const programs = guideIn('ts').map((text, index) => {
    const name = join(guide, `program-${index}.ts`)
    writeFileSync(name, text)
    return name
  })
  expect(programs).toHaveLength(2)
  const options = {
    target: 'esnext',
    module: 'nodenext',
    moduleDetection: 'force',
    allowImportingTsExtensions: true,
    noEmit: true,
    paths: { '@parley/simulator/*': [join(root, 'simulator', 'src', '*.ts')] },
  }
  expect(await errorsIn(['same.ts', 'given.ts', ...files, ...programs], options)).toBe('')
})

test('a program and a CommonJS program, without an import of modules, compile in strict mode with the types of Node', async () => {
  const program = `import { type Outgoing, Parley, type ParleyEvent } from '@parley/sdk'
import { parleyWebhook } from '@parley/sdk/express'
const parley = new Parley({ baseUrl: 'http://x', key: 'prl_live_x' })
export const send = (message: Outgoing): Promise<{ id: string }> => parley.messages.send(message)
export const receive = parleyWebhook('whsec_x', (event: ParleyEvent) => event.id)
`
  writeFileSync(join(project, 'common.cts'), program)
  // As `nodenext`, but a CommonJS program cannot require modules.
  const options = { module: 'node16', lib: ['es2022'], skipLibCheck: false, outDir: 'out' }
  expect(await errorsIn(['installed-package.ts', 'common.cts'], options)).toBe('')
})

test('a program compiles in strict mode for a bundler, with the types of the DOM too', async () => {
  const options = { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'] }
  expect(await errorsIn(['installed-package.ts'], { ...options, skipLibCheck: false, noEmit: true })).toBe('')
})

/** Of these runtimes, a machine may have some. */
const runtimes = [
  { name: 'the Node of this machine', command: ['node'] },
  { name: 'the Node of this project', command: [process.execPath] },
  { name: 'Bun', command: ['bun', 'run'] },
  { name: 'Deno', command: ['deno', 'run', '--allow-all', '--no-lock'] },
]

test.for(runtimes)(
  'with $name, the program calls the service and receives its deliveries',
  async ({ name, command: [program = '', ...args] }, { skip }) => {
    const isInstalled = await run(program, ['--version'], { env }).catch(() => null)
    skip(isInstalled === null, `${name} is not installed`)
    const shop = await service.sending.newShop()
    const port = await freePort()
    const settings = {
      PARLEY_URL: service.server.url,
      PARLEY_API_KEY: shop.workspace.secret,
      PARLEY_WEBHOOK_SECRET: await service.listen(shop.workspace, `http://127.0.0.1:${port}/hook`),
      PORT: String(port),
    }
    const file = join(project, 'out', 'installed-package.js')
    let ended: { stdout: string; stderr: string } | undefined
    const running = run(program, [...args, file], { env: { ...env, ...settings } }).then((printed) => {
      ended = printed
    })
    const work = until('the program is done', async () => {
      await service.processQueues()
      return ended
    })
    await Promise.race([work, running])
    const { stdout: out, stderr: err } = await work
    expect(err).toBe('')
    const lines = out.trim().split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        `sender ${shop.account.phoneNumber}`,
        'event sent 16505550123',
        'event delivered 16505550123',
        expect.stringMatching(/^delivered true 20/),
        'failed not_found 404',
        'others function,function,function,function',
      ]),
    )
  },
)

test('in an empty folder, npx parley listen forwards signed events with a URL and a key only', async () => {
  const empty = join(folder, 'empty')
  mkdirSync(empty)
  // Settings of another program: there is no database to connect to.
  const settings = { DATABASE_URL: 'postgresql://x:y@127.0.0.1:1/z', PORT: 'eighty', HOME: folder }
  await run('npm', ['install', '--offline', join(folder, tarballIn(folder))], {
    cwd: empty,
    env: { ...env, HOME: folder },
  })
  const shop = await service.sending.newShop()
  const keyEnv = { PARLEY_URL: service.server.url, PARLEY_API_KEY: shop.workspace.secret }
  const parley = async (...words: string[]) =>
    (await run('npx', ['parley', ...words], { cwd: empty, env: { ...env, ...settings, ...keyEnv } })).stdout
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const listening = spawn(join(empty, 'node_modules', '.bin', 'parley'), ['listen', '--forward-to', receiver.url], {
    cwd: empty,
    env: { ...env, ...settings, ...keyEnv },
  })
  const ended = once(listening, 'exit')
  onTestFinished(() => void listening.kill('SIGKILL'))
  let printed = ''
  for (const stream of [listening.stdout, listening.stderr]) stream.on('data', (text) => (printed += text))
  const secret = await until('it prints its secret', () => {
    if (listening.exitCode !== null) throw new Error(`it ended: ${printed}`)
    return printed.includes('Press r') && /^Signing secret: (whsec_\S+)$/m.exec(printed)?.[1]
  })
  const sent = ['--to', '16505550123', '--template', 'greeting', '--var', '1=Ana']
  const { id } = JSON.parse(await parley('send', ...sent, '--from', shop.senderId, '--json')) as { id: string }
  await until('events arrive', async () => {
    await service.processQueues()
    return receiver.received.length >= 2
  })
  for (const { body, headers } of receiver.received) {
    expect(await verifyWebhook(body, headers, secret)).toMatchObject({ data: { message_id: id } })
    await expect(verifyWebhook(`${body} `, headers, secret)).rejects.toThrow()
  }
  listening.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  // Nothing else was created.
  expect(readdirSync(empty).sort()).toEqual(['node_modules', 'package-lock.json', 'package.json'])
})

test('its command line has only the commands that work with a key, and names those of an operator', async () => {
  const command = join(installed, 'dist', 'cli', 'parley.js')
  const text = readFileSync(command, 'utf8')
  // Without the server, its database and their dependencies.
  expect(text.length).toBeLessThan(200_000)
  expect([...text.matchAll(/^import .*from "([^"]+)"/gm)].filter(([, from]) => !from?.startsWith('node:'))).toEqual([])
  const home = join(folder, 'home')
  const parley = (...words: string[]) =>
    run('node', [command, ...words], { env: { ...env, HOME: home } }).catch(
      (error: { stdout: string; stderr: string }) => error,
    )
  const help = (await parley('--help')).stdout
  const listed = [...help.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm)].map(([, name]) => name)
  expect(listed).toEqual(['login', 'listen', 'send', 'events', 'trigger', 'webhook list', 'types', 'mcp'])
  // One process prints the help of all of them.
  const program = `for (const name of ${JSON.stringify(listed)}) {
    process.argv = ['node', 'parley', ...name.split(' '), '--help']
    await import(${JSON.stringify(pathToFileURL(command).href)} + '?' + name)
    console.log('\\0')
  }`
  const { stdout: helps } = await run('node', ['--input-type=module', '-e', program], { env: { ...env, HOME: home } })
  const pages = helps.split('\0\n').slice(0, -1)
  expect(pages).toHaveLength(listed.length)
  for (const page of pages) {
    expect(page).toMatch(/^Examples:\n {2}\$ npx parley /m)
    expect(page).not.toMatch(/--workspace|\.\/parley|database/)
  }
  // No key can make any other event happen.
  const trigger = pages[listed.indexOf('trigger')] ?? ''
  expect(trigger).not.toMatch(/a phone writes|test event/)
  const examples = [...trigger.matchAll(/\$ npx parley trigger (\S+)/g)].map(([, type = '']) => type)
  expect(examples).not.toEqual([])
  expect(Object.keys(testNumbers)).toEqual(expect.arrayContaining(examples))
  const events = await parley('events')
  expect(events.stderr).toMatch(
    /^PARLEY_URL and PARLEY_API_KEY are not set\. Set both, or run "npx parley login" once\.\n/,
  )
  expect((await parley('key', 'create', '--name', 'My shop')).stderr).toBe(
    "This program has no database. An operator runs this on the server: ./parley key create --name 'My shop'\n",
  )
  for (const words of [['send', '--to', '491701234567', '--text', 'Hi'], ['logs']]) {
    const { stderr } = await parley(...words, '--key', 'anything')
    expect(stderr).toMatch(/^PARLEY_URL is not set\. Pass --url too/)
    expect(stderr).not.toContain('    at ')
  }
  expect((await parley('doctor')).stderr).toMatch(/on the server: \.\/parley doctor\n$/)
  expect((await parley('sned')).stderr).toMatch(/Did you mean "send"/)
})

/** The code blocks of the guide to testing in a language. */
const guideIn = (language: string): string[] =>
  blocksOf('docs/tools/testing.md').flatMap((block) => (block.language === language ? [block.text] : []))

test('the guide to testing works for vitest', async () => {
  const [bot = '', booking = ''] = guideIn('ts')
  // Both begin with a start of Parley. One is enough.
  const [, bookingTest = ''] = booking.split('afterAll(() => parley.stop())\n')
  expect(bookingTest).toContain('booking.json')
  writeFileSync(join(guide, 'bot.test.ts'), bot + bookingTest)
  writeFileSync(join(guide, 'booking.json'), guideIn('json')[0] ?? '')
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  // A busy machine takes longer than the default.
  const args = [vitest, 'run', '--testTimeout', '60000', '--no-color']
  const { stdout } = await run(process.execPath, args, {
    cwd: guide,
    env: { ...guideEnv, PARLEY_COMMAND: preparedParley(folder) },
  })
  expect(stdout).toContain('3 passed')
})

test('the guide to testing works for pytest', async ({ skip }) => {
  const commands = new CommandServer()
  await commands.start()
  onTestFinished(() => commands.stop())
  const hasPytest = await run('python3', ['-c', 'import pytest']).catch(() => null)
  skip(hasPytest === null, 'pytest is not installed')
  const cwd = join(folder, 'pytest')
  mkdirSync(cwd)
  for (const [index, text] of guideIn('python').entries()) {
    writeFileSync(join(cwd, ['conftest.py', 'test_bot.py'][index] ?? ''), text)
  }
  // What the guide says about scenarios.
  copyFileSync(join(root, 'testing', 'build', 'test_play.py'), join(cwd, 'test_play.py'))
  const command = commands.writeProgram(folder, preparedParley(folder))
  const PYTHONPATH = [join(sdk, 'python', 'src'), process.env.PYTHONPATH].filter(Boolean).join(delimiter)
  const { stdout } = await run('python3', ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], {
    cwd,
    env: { ...guideEnv, PARLEY_COMMAND: command, PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1' },
  }).catch((error: { stdout: string }) => error)
  expect(stdout).toContain('6 passed')
})

const guideEnv = { ...process.env, TMPDIR: folder }

const tarballIn = (path: string, name = 'sdk') =>
  readdirSync(path).find((file) => file.startsWith(`parley-${name}-`) && file.endsWith('.tgz')) ?? ''

/** The output of the compiler. */
async function errorsIn(files: string[], options: object): Promise<string> {
  const compilerOptions = {
    target: 'es2022',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    // The types of the compiler itself are not tested here.
    skipDefaultLibCheck: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules', '@types')],
    ...options,
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  return compile('-p', project)
}
