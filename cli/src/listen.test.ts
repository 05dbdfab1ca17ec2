import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { verifyWebhook } from '@parley/sdk/verify'
import { type Database, openDatabase } from '@parley/server/db/db'
import { publish } from '@parley/server/domain/deliveries/engine/publish'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { childEnv } from '../../server/testing/child-env.ts'
import { newDatabase } from '../../server/testing/database.ts'
import { startReceiver } from '../../server/testing/receiver.ts'
import { urlOf } from '../../server/testing/service.ts'
import { until } from '../../server/testing/until.ts'

/** `parley listen --workspace`: events of a workspace, without a webhook. */
let env: Record<string, string>
let db: Database
let close: () => Promise<void>

beforeAll(async () => {
  const { connection, drop } = await newDatabase()
  db = openDatabase(connection, () => {}, 2)
  env = { DATABASE_URL: urlOf(connection), PARLEY_SECRET_KEYS: `k1:${'A'.repeat(43)}=` }
  close = async () => {
    await db.close()
    await drop()
  }
})
afterAll(() => close())

/** Starts `parley listen`, with a pipe instead of a keyboard. */
const listen = (...options: string[]) => listenWith({}, ...options)

function listenWith(colors: Record<string, string>, ...options: string[]) {
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), 'listen', ...options], {
    env: { ...childEnv, PARLEY_SIMULATOR_PORT: '0', ...env, ...colors },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const output = { out: '', err: '' }
  child.stdout?.on('data', (chunk) => {
    output.out += chunk
  })
  child.stderr?.on('data', (chunk) => {
    output.err += chunk
  })
  return {
    output,
    ended: once(child, 'exit').then(([code]) => code as number),
    press: (key: string) => child.stdin?.write(key),
    lines: () => output.out.split('\n').filter((line) => line.includes('message.')),
    async stop(): Promise<number> {
      const exited = once(child, 'exit') as Promise<[number]>
      child.kill('SIGTERM')
      return (await exited)[0]
    },
  }
}

const publishOne = (workspaceId: string, type: 'message.received' | 'message.sent', text: string) =>
  db.transaction((tx) => publish(tx, systemClock.now(), [{ workspaceId, type, data: { text } }]))

test('it forwards new events with a signature, prints one line for each, and r repeats the last', async () => {
  const { id } = await createWorkspace(db, systemClock, 'Forwarded')
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const listening = listen(
    '--workspace',
    'Forwarded',
    '--forward-to',
    receiver.url,
    '--events',
    'message.received,message.read',
  )
  const secret = await until(
    'it prints its secret',
    () => /Signing secret: (whsec_\S+)/.exec(listening.output.out)?.[1],
  )
  await until('it listens', () => listening.output.out.includes('Press r'))
  await publishOne(id, 'message.sent', 'not forwarded')
  await publishOne(id, 'message.received', 'one')
  await until('the event arrives', () => receiver.received.length === 1)
  const [first] = receiver.received
  const event = await verifyWebhook(first?.body ?? '', first?.headers ?? {}, secret)
  expect(event).toMatchObject({ type: 'message.received', data: { text: 'one' } })
  expect(first?.headers).toMatchObject({ 'service-event': 'message.received', 'service-delivery': event.id })
  expect(first?.headers['user-agent']).toMatch(/^Parley\//)
  receiver.next(500)
  listening.press('r')
  await until('it arrives again', () => receiver.received.length === 2)
  expect(receiver.received[1]).toMatchObject({ body: first?.body, id: event.id })
  await until('both are printed', () => listening.lines().length === 2)
  expect(listening.lines()).toEqual([
    expect.stringMatching(new RegExp(`message\\.received {2}${event.id} {2}→ 200 in \\d+ ms$`)),
    expect.stringMatching(new RegExp(`message\\.received {2}${event.id} {2}→ 500 in \\d+ ms$`)),
  ])
  // The next events come although no one can take them.
  await receiver.close()
  for (const text of ['two', 'three']) await publishOne(id, 'message.received', text)
  await until('both failures are printed', () => listening.output.out.match(/FAILED: .*ECONNREFUSED/g)?.length === 2)
  expect(listening.output.out).not.toContain('\u001b')
  listening.press('q')
  expect(await listening.ended).toBe(0)
})

test('with --json it prints one document for each event, and --secret signs', async () => {
  const { id } = await createWorkspace(db, systemClock, 'As JSON')
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`
  const listening = listen('--workspace', id, '--forward-to', receiver.url, '--secret', secret, '--json')
  await until('it listens', () => listening.output.err.includes('Press r'))
  await publishOne(id, 'message.sent', 'one')
  const [line = ''] = await until('it is printed', () => listening.lines().length === 1 && listening.lines())
  expect(JSON.parse(line)).toMatchObject({
    forwarded: { status: 200, error: null },
    event: { type: 'message.sent', data: { text: 'one' } },
  })
  await expect(
    verifyWebhook(receiver.received[0]?.body ?? '', receiver.received[0]?.headers ?? {}, secret),
  ).resolves.toMatchObject({ type: 'message.sent' })
  expect(await listening.stop()).toBe(0)
})

test('without --forward-to it only prints; wrong options are refused', async () => {
  const { id } = await createWorkspace(db, systemClock, 'Printed')
  const listening = listen('--workspace', id)
  await until('it listens', () => listening.output.out.includes('Press q'))
  await publishOne(id, 'message.received', 'one')
  await until('it is printed', () => listening.lines().length === 1)
  expect(await listening.stop()).toBe(0)
  const cases: [string[], string][] = [
    [['--workspace', id, '--forward-to', 'ftp://x'], 'Invalid --forward-to "ftp://x"'],
    [['--workspace', id, '--event', 'message.lost'], '"message.lost" is not an event type'],
    [['--port', '0', '--event', 'message.sent'], 'With --port it is a receiver.'],
    [['--forward-to', 'http://127.0.0.1:9/'], 'Missing option: --workspace ID.'],
    [[], 'Missing option: --workspace ID.'],
  ]
  for (const [options, message] of cases) {
    const refused = listen(...options)
    await until(`${message} is printed`, () => refused.output.err.includes(message))
  }
})

test('in a terminal that shows colors, the status of a response is green or red', async () => {
  const { id } = await createWorkspace(db, systemClock, 'Colored')
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const words = ['--workspace', id, '--forward-to', receiver.url]
  const [colored, plain] = [listenWith({ FORCE_COLOR: '1' }, ...words), listenWith({ NO_COLOR: '1' }, ...words)]
  for (const each of [colored, plain]) await until('it listens', () => each.output.out.includes('Press r'))
  await publishOne(id, 'message.sent', 'one')
  await until('both print it', () => [colored, plain].every((each) => each.lines().length === 1))
  expect(colored.lines()[0]).toContain('\u001b[32m200\u001b[39m')
  expect(plain.lines()[0]).not.toContain('\u001b')
})
