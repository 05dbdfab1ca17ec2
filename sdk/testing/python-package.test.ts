import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { blocksOf } from '../../scripts/docs-blocks.ts'
import { syncConnection } from '../../server/src/domain/connections/sync.ts'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { until } from '../../server/testing/until.ts'
import { freePort } from '../../testing/src/free-port.ts'
import { useService } from './service.ts'

const root = join(import.meta.dirname, '..', '..')
const run = promisify(execFile)
/** As in a terminal: without the variables and folders that `npm test` adds. */
const env = {
  HOME: process.env.HOME ?? '',
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((each) => !each.startsWith(root))
    .join(delimiter),
}
const service = useService()
const recentPython = 'import sys; sys.exit(sys.version_info < (3, 9))'

/** Builds the package as pip does, with the setuptools of this machine: pip would download it. */
const buildPackage = `
import importlib, sys, tomllib
from importlib.metadata import version
with open('pyproject.toml', 'rb') as file:
    system = tomllib.load(file)['build-system']
importlib.import_module(system['build-backend'])
for name, oldest in (each.split('>=') for each in system['requires']):
    assert int(version(name).split('.')[0]) >= int(oldest), name
from setuptools import setup
setup(script_args=['build_py', '--build-lib', sys.argv[1]])
`

test('the package of the Python SDK works in an empty folder', { timeout: 300_000 }, async ({ skip }) => {
  const folder = tempFolder()
  const isRecent = await run('python3', ['-c', recentPython], { env }).catch(() => null)
  skip(isRecent === null, 'python3 (3.9 or later) is not installed')
  // Builds write to the folder of the package.
  const source = join(folder, 'package')
  cpSync(join(root, 'sdk', 'python'), source, { recursive: true })
  const target = join(folder, 'installed')
  const failure = await run('python3', ['-c', buildPackage, target], { cwd: source, env }).then(
    () => null,
    ({ stderr }) => stderr,
  )
  if (failure !== null) {
    expect(failure).toMatch(/No module named '(tomllib|setuptools)/)
    console.log('setuptools is not available: the package was copied instead of built.')
    cpSync(join(source, 'src'), target, { recursive: true })
  }
  expect(readdirSync(join(target, 'parley'))).toContain('py.typed')
  const project = join(folder, 'project')
  mkdirSync(project)
  /** Saves the first program of the README that contains `part`. */
  const save = (name: string, part: string) => {
    const program = blocksOf('sdk/python/README.md').find(({ text }) => text.includes(part))
    writeFileSync(join(project, name), program?.text ?? '')
  }
  save('send.py', 'messages.send(')
  save('receive.py', 'PARLEY_WEBHOOK_SECRET')
  await sendAndReceive(project, { ...env, PYTHONPATH: target })
})

/** Starts the receiver with a webhook of its own, sends a message, and waits until its events have arrived. */
async function sendAndReceive(cwd: string, python: Record<string, string>) {
  const { workspace, account, connection } = await service.sending.newShop()
  account.addTemplate({ name: 'hello_world', language: 'en_US', components: [{ type: 'BODY', text: 'Welcome.' }] })
  await syncConnection(service.sending.network.network, connection.id)
  const port = String(await freePort())
  const secret = await service.listen(workspace, `http://127.0.0.1:${port}/hook`)
  const receiver = spawn('python3', ['receive.py'], {
    cwd,
    env: { ...python, PARLEY_WEBHOOK_SECRET: secret, PORT: port },
  })
  onTestFinished(() => void receiver.kill('SIGKILL'))
  let [out, err] = ['', '']
  receiver.stdout.on('data', (chunk) => {
    out += chunk
  })
  receiver.stderr.on('data', (chunk) => {
    err += chunk
  })
  await until('the receiver listens', () =>
    fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', body: 'x' }).then(
      ({ status }) => status === 400,
      () => {
        if (receiver.exitCode !== null) throw new Error(err)
        return false
      },
    ),
  )
  const settings = { PARLEY_URL: service.server.url, PARLEY_API_KEY: workspace.secret }
  const { stdout } = await run('python3', ['send.py'], { cwd, env: { ...python, ...settings } })
  expect(stdout).toMatch(/^msg_\S+ queued\n$/)
  await until('the events arrive', async () => {
    await service.processQueues()
    return ['sent', 'delivered'].every((name) => out.includes(`message.${name} `))
  })
}
