import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../sdk/testing/free-port.ts'
import { parley } from '../server/testing/parley.ts'
import { newDataDir } from '../server/testing/prepared-data-dir.ts'
import { tempFolder } from '../server/testing/temp-folder.ts'
import { until } from '../server/testing/until.ts'
import { type Installation, startInstallation } from './installation.ts'

/** Packs the SDKs, installs them in empty folders, and runs the two programs of each README against a started service. */
const root = join(import.meta.dirname, '..')
const run = promisify(execFile)
/** As in a terminal: without the variables and folders that `npm test` adds. */
const env = {
  HOME: process.env.HOME ?? '',
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((each) => !each.startsWith(root))
    .join(delimiter),
}

let service: Installation
beforeAll(async () => {
  service = await startInstallation({ dataDir: newDataDir() })
})
afterAll(() => service.stop())

/** The first programs of a README: one that sends, one that receives. */
function programsOf(readme: string, language: string): [send: string, receive: string] {
  const text = readFileSync(join(root, readme), 'utf8')
  const programs = [...text.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(([, code = '']) => code)
  const find = (part: string) => programs.find((code) => code.includes(part)) ?? ''
  return [find('messages.send('), find('PARLEY_WEBHOOK_SECRET')]
}

function start(program: string, args: readonly string[], cwd: string, more: Record<string, string>) {
  const child: ChildProcess = spawn(program, args, { cwd, env: { ...env, ...more } })
  onTestFinished(() => void child.kill('SIGKILL'))
  let out = ''
  child.stdout?.on('data', (chunk) => {
    out += chunk
  })
  let err = ''
  child.stderr?.on('data', (chunk) => {
    err += chunk
  })
  return { out: () => out, err: () => err, child }
}

/** Starts the receiver with a webhook of its own, sends a message, and waits until its events have arrived. */
async function sendAndReceive(program: string, cwd: string, sendArgs: string[], receiveArgs: string[]) {
  const port = String(await freePort())
  const words = ['webhook', 'create', '--name', 'receiver', '--url', `http://127.0.0.1:${port}/hook`, '--json']
  const events = ['--event', 'message.sent', '--event', 'message.delivered']
  const created = await parley([...words, ...events], service.env)
  const { secret } = JSON.parse(created.out) as { secret: string }
  const receiver = start(program, receiveArgs, cwd, { PARLEY_WEBHOOK_SECRET: secret, PORT: port })
  await until(
    'the receiver listens',
    () =>
      fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', body: 'x' }).then(
        ({ status }) => status === 400,
        () => {
          if (receiver.child.exitCode !== null) throw new Error(receiver.err())
          return false
        },
      ),
    60_000,
  )
  const settings = { PARLEY_URL: service.url, PARLEY_API_KEY: service.key }
  const { stdout } = await run(program, sendArgs, { cwd, env: { ...env, ...settings } })
  expect(stdout).toMatch(/^msg_\S+ queued\n$/)
  await until(
    'the events arrive',
    () => ['sent', 'delivered'].every((name) => receiver.out().includes(`message.${name} `)),
    60_000,
  )
}

/** Which runtimes of JavaScript this machine has. */
const runtimes = [
  { name: 'the Node of this machine', program: 'node', args: [] },
  { name: 'the Node of this project', program: process.execPath, args: [] },
  { name: 'Bun', program: 'bun', args: ['run'] },
  { name: 'Deno', program: 'deno', args: ['run', '--allow-all', '--no-lock'] },
]

test('the package of the TypeScript SDK works in an empty folder', { timeout: 300_000 }, async () => {
  const folder = tempFolder()
  await run('npm', ['pack', '--pack-destination', folder], { cwd: join(root, 'sdk'), env })
  const project = join(folder, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
  const install = ['install', join(folder, tarball), '--offline', '--no-audit', '--no-fund']
  await run('npm', install, { cwd: project, env })
  const [send, receive] = programsOf('sdk/README.md', 'ts')
  writeFileSync(join(project, 'send.ts'), send)
  writeFileSync(join(project, 'receive.ts'), receive)
  for (const options of [{ module: 'esnext', moduleResolution: 'bundler' }, { module: 'nodenext' }]) {
    const typeRoots = [join(root, 'node_modules', '@types')]
    const compilerOptions = { target: 'es2022', strict: true, types: ['node'], typeRoots, outDir: 'out', ...options }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    await run(process.execPath, [tsc, '-p', project]).catch(({ stdout }) => expect(stdout).toBe(''))
  }
  const ran: string[] = []
  for (const { name, program, args } of runtimes) {
    if (!(await isInstalled(program))) continue
    await sendAndReceive(program, project, [...args, 'out/send.js'], [...args, 'out/receive.js'])
    ran.push(name)
  }
  expect(ran.length).toBeGreaterThan(0)
  console.log(`Ran with ${ran.join(', ')}.`)
})

test('the package of the Python SDK works in an empty folder', { timeout: 300_000 }, async ({ skip }) => {
  const folder = tempFolder()
  skip(!(await isInstalled('python3', '-c', recentPython)), 'python3 (3.9 or later) is not installed')
  // pip builds in the folder of the package.
  const source = join(folder, 'package')
  cpSync(join(root, 'sdk', 'python'), source, { recursive: true })
  const target = join(folder, 'installed')
  const pip = ['-m', 'pip', 'install', '--retries', '0', '--timeout', '20', '--no-deps', '--target', target, source]
  const failure = await run('python3', pip, { cwd: folder, env }).then(
    () => null,
    ({ stdout, stderr }) => `${stdout}\n${stderr}`,
  )
  if (failure !== null) {
    // pip downloads setuptools to build a package.
    expect(failure).toMatch(/No module named pip|No matching distribution found for setuptools/)
    console.log('pip or setuptools is not available: the package was copied instead of installed.')
    cpSync(join(source, 'src'), target, { recursive: true })
  }
  expect(readdirSync(join(target, 'parley'))).toContain('py.typed')
  const project = join(folder, 'project')
  mkdirSync(project)
  const [send, receive] = programsOf('sdk/python/README.md', 'python')
  writeFileSync(join(project, 'send.py'), `import sys\nsys.path.insert(0, ${JSON.stringify(target)})\n${send}`)
  writeFileSync(join(project, 'receive.py'), `import sys\nsys.path.insert(0, ${JSON.stringify(target)})\n${receive}`)
  await sendAndReceive('python3', project, ['send.py'], ['receive.py'])
})

const recentPython = 'import sys; sys.exit(sys.version_info < (3, 9))'

const isInstalled = (program: string, ...args: string[]): Promise<boolean> =>
  run(program, args.length > 0 ? args : ['--version'], { env }).then(
    () => true,
    () => false,
  )
