import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifyWebhook } from '@parley/sdk/verify'
import { type Database, openDatabase } from '@parley/server/db/db'
import { publish } from '@parley/server/domain/deliveries/engine/publish/publish'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { newDatabase } from '../../server/testing/database.ts'
import { spawnParley } from '../../server/testing/parley.ts'
import { startReceiver } from '../../server/testing/receiver.ts'
import { urlOf } from '../../server/testing/service.ts'
import { until } from '../../server/testing/until.ts'
import { startCommand } from '../testing/run-parley.ts'

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

/** Starts `parley listen`. */
const listen = (...options: string[]) => listenWith({}, ...options)

function listenWith(more: Record<string, string>, ...options: string[]) {
  const running = startCommand(['listen', ...options], { ...env, ...more })
  return {
    ...running,
    lines: () =>
      running
        .out()
        .split('\n')
        .filter((line) => line.includes('message.')),
    exitCode: async () => (await running.ended).code,
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
    '--event',
    'message.received',
    '--event',
    'message.read',
  )
  const secret = await until('it prints its secret', () => /Signing secret: (whsec_\S+)/.exec(listening.out())?.[1])
  await until('it listens', () => listening.out().includes('Press r'))
  await publishOne(id, 'message.sent', 'not forwarded')
  await publishOne(id, 'message.received', 'one')
  await until('the event arrives', () => receiver.received.length === 1)
  const [first] = receiver.received
  const event = await verifyWebhook(first?.body ?? '', first?.headers ?? {}, secret)
  expect(event).toMatchObject({ type: 'message.received', data: { text: 'one' } })
  expect(first?.headers).toMatchObject({ 'service-event': 'message.received', 'service-delivery': event.id })
  expect(first?.headers['user-agent']).toMatch(/^Parley\//)
  receiver.next(500)
  listening.type('r')
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
  await until('both failures are printed', () => listening.out().match(/FAILED: .*ECONNREFUSED/g)?.length === 2)
  expect(listening.out()).not.toContain('\u001b')
  listening.type('q')
  expect(await listening.exitCode()).toBe(0)
})

test('with --json it prints one document for each event, and --secret signs', async () => {
  const { id } = await createWorkspace(db, systemClock, 'As JSON')
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`
  const listening = listen('--workspace', id, '--forward-to', receiver.url, '--secret', secret, '--json')
  await until('it listens', () => listening.err().includes('Press r'))
  await publishOne(id, 'message.sent', 'one')
  const [line = ''] = await until('it is printed', () => listening.lines().length === 1 && listening.lines())
  expect(listening.out() + listening.err()).not.toContain(secret)
  expect(JSON.parse(line)).toMatchObject({
    forwarded: { status: 200, error: null },
    event: { type: 'message.sent', data: { text: 'one' } },
  })
  await expect(
    verifyWebhook(receiver.received[0]?.body ?? '', receiver.received[0]?.headers ?? {}, secret),
  ).resolves.toMatchObject({ type: 'message.sent' })
  listening.kill('SIGTERM')
  expect(await listening.exitCode()).toBe(0)
})

test('without --forward-to it only prints; wrong options are refused', async () => {
  const { id } = await createWorkspace(db, systemClock, 'Printed')
  const listening = listen('--workspace', id)
  await until('it listens', () => listening.out().includes('Press q'))
  await publishOne(id, 'message.received', 'one')
  await until('it is printed', () => listening.lines().length === 1)
  listening.kill('SIGTERM')
  expect(await listening.exitCode()).toBe(0)
  const cases: [string[], string][] = [
    [['--workspace', id, '--forward-to', 'ftp://x'], 'Invalid --forward-to "ftp://x"'],
    [['--workspace', id, '--event', 'message.lost'], '"message.lost" is not an event type'],
    [['--port', '0', '--event', 'message.sent'], 'With --port it is a receiver.'],
    [['--forward-to', 'http://127.0.0.1:9/'], 'Missing option: --workspace ID.'],
    [[], 'Missing option: --workspace ID.'],
  ]
  const taken = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void taken.close())
  const port = await until('it listens', () => (taken.address() as AddressInfo | null)?.port)
  cases.push([
    ['--port', String(port)],
    `Cannot listen on port ${port}: it is in use. Choose another one with --port.\n`,
  ])
  cases.push([['--workspace', id, '--secret', 'hush'], 'A signing secret begins with whsec_.'])
  for (const [options, message] of cases) {
    const refused = listen(...options)
    expect(await refused.exitCode(), message).toBe(1)
    expect(refused.err()).toContain(message)
    expect(refused.err()).not.toMatch(/hush|\n {4}at /)
  }
})

test('in a terminal that shows colors, the status of a response is green or red', async () => {
  const { id } = await createWorkspace(db, systemClock, 'Colored')
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const words = ['--workspace', id, '--forward-to', receiver.url]
  const listening = listen(...words)
  await until('it listens', () => listening.out().includes('Press r'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const printedWith = async (variable: string) => {
    vi.stubEnv('FORCE_COLOR', undefined)
    vi.stubEnv('NO_COLOR', undefined)
    vi.stubEnv(variable, '1')
    const before = listening.lines().length
    await publishOne(id, 'message.sent', 'one')
    return until('it is printed', () => listening.lines()[before])
  }
  expect(await printedWith('FORCE_COLOR')).toContain('\u001b[32m200\u001b[39m')
  expect(await printedWith('NO_COLOR')).not.toContain('\u001b')
})

test('its own secret is the same at every start, and a secret in the environment does not make it a receiver', async () => {
  const { id } = await createWorkspace(db, systemClock, 'Same secret')
  const secretOf = async () => {
    const listening = listen('--workspace', id, '--forward-to', '9')
    const secret = await until('it prints one', () => /Signing secret: (whsec_\S+)/.exec(listening.out())?.[1])
    await until('it listens', () => listening.out().includes('Press r'))
    listening.type('r')
    await until('there is nothing to repeat', () => listening.out().includes('There was no event yet.'))
    listening.type('q')
    expect(await listening.exitCode()).toBe(0)
    return secret
  }
  expect(await secretOf()).toBe(await secretOf())
  const given = `whsec_${Buffer.alloc(32, 4).toString('base64')}`
  const listening = listenWith({ PARLEY_WEBHOOK_SECRET: given }, '--workspace', id)
  await until('it reads events', () => listening.out().includes('Reading new events of workspace Same secret.'))
  expect(listening.out() + listening.err()).not.toContain(given)
})

test('it ends without an error when no one reads its output any more', async () => {
  const { id } = await createWorkspace(db, systemClock, 'Closed pipe')
  const [listening, following] = [
    spawnParley(['listen', '--workspace', id], env),
    spawnParley(['events', '--follow', '--workspace', id], env),
  ]
  await until('it listens', () => listening.out().includes('Press q'))
  await until('it follows', () => following.err().includes('Press Ctrl+C'))
  for (const { child } of [listening, following]) child.stdout?.destroy()
  await publishOne(id, 'message.received', 'one')
  for (const { ended, err } of [listening, following]) {
    expect((await ended).code).toBe(0)
    expect(err()).not.toMatch(/EPIPE|\n {4}at /)
  }
})

test('a response that does not come delays neither q nor a signal', async () => {
  const { id } = await createWorkspace(db, systemClock, 'Hanging')
  let requests = 0
  const hanging = createServer(() => {
    requests++
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    hanging.closeAllConnections()
    hanging.close()
  })
  const port = await until('it listens', () => (hanging.address() as AddressInfo | null)?.port)
  const options = ['--workspace', id, '--forward-to', String(port)]
  const [quit, stopped] = [listen(...options), listen(...options)]
  for (const each of [quit, stopped]) await until('it listens', () => each.out().includes('Press r'))
  await publishOne(id, 'message.sent', 'one')
  await until('both are forwarded', () => requests === 2)
  quit.type('q')
  stopped.kill('SIGINT')
  for (const each of [quit, stopped]) {
    expect(await each.exitCode()).toBe(0)
    // It did not wait until the receiver is given up.
    expect(each.lines()).toEqual([])
  }
})
