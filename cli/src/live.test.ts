import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventTypes } from '@parley/contract/events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeFolder } from '../../server/testing/data-dir.ts'
import { type Running, startParley } from '../../server/testing/parley.ts'
import { newDataDir } from '../../server/testing/prepared-data-dir.ts'
import { until } from '../../server/testing/until.ts'
import { freePort } from '../../testing/src/free-port.ts'
import { type RunningCommand, runParley, startCommand } from '../testing/run-parley.ts'
import { commands as sendCommands } from './commands/send.ts'

/** Commands next to a running service with its simulator, on ports that no setting names. */
let dataDir: string
let service: Running & { url: string }
let simulatorPort: number
let apiKey: string

beforeAll(async () => {
  dataDir = newDataDir()
  simulatorPort = await freePort()
  service = await startParley({ PARLEY_DATA_DIR: dataDir, PARLEY_SIMULATOR_PORT: String(simulatorPort) })
  await until('it is ready', () => service.out().includes('Press Ctrl+C'))
  apiKey = /^ {2}(prl_\S+)$/m.exec(service.out())?.[1] as string
})

afterAll(async () => {
  service.child.kill('SIGKILL')
  await service.ended
  removeFolder(dataDir)
})

/** Runs a command with no other setting than the data directory. */
const run = (...words: string[]) => runParley(words, { PARLEY_DATA_DIR: dataDir })

async function json(...words: string[]) {
  const { code, out, err } = await run(...words, '--json')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

/** Starts a command that runs until it is stopped. */
const follow = (...words: string[]) => startCommand(words, { PARLEY_DATA_DIR: dataDir })

async function stop(running: RunningCommand): Promise<number> {
  running.kill('SIGINT')
  return (await running.ended).code
}

test('start writes down where it listens, and other commands find it', async () => {
  expect(JSON.parse(readFileSync(join(dataDir, 'service.json'), 'utf8'))).toEqual({
    pid: service.pid,
    url: service.url,
    public_url: service.url,
    simulator_port: simulatorPort,
    phone: '16505550123',
  })
  // Links have its address too, although no setting says it.
  expect((await json('user', 'operator')).url).toMatch(new RegExp(`^${service.url}/link#`))
  expect((await run('doctor', '--offline')).out).toContain(`Running and ready at ${service.url}/readyz.`)
  expect(await json('phone', 'send', '--from', '16505550123', '--to', '15550780001', '--text', 'hi')).toMatchObject({
    type: 'text',
  })
})

test('send sends a text to the handset, once for each idempotency key', async () => {
  await run('phone', 'send', '--from', '16505550123', '--to', '15550780001', '--text', 'hi')
  await until('it was received', async () => (await json('events', '--event', 'message.received')).data.length > 0)
  const sent = await run('send', '--text', 'Hello', '--wait')
  expect(sent.out).toMatch(/^Accepted message msg_\S+ to 16505550123 for 1 credit\.\nStatus: (delivered|read)\.\n$/)
  const words = ['send', '--text', 'Once', '--idempotency-key', 'order-1', '--reference', 'order 1']
  const first = await json(...words)
  expect(first).toMatchObject({ object: 'message', type: 'text', status: 'queued', reference: 'order 1' })
  expect(await json(...words)).toMatchObject({ id: first.id })
  expect((await run(...words)).out).toMatch(/^Message msg_\S+ was sent with this idempotency key before\./)
  const other = ['send', '--text', 'Other', '--idempotency-key', 'order-1', '--reference', 'order 1']
  expect(await run(...other)).toMatchObject({ code: 1, err: expect.stringContaining('Idempotency-Key') })
})

test('send fills in the variables of a template, and says what is missing or wrong', async () => {
  const template = ['send', '--to', '491701234567', '--from', '+1 555-078-0001', '--template', 'intake_form']
  expect(await json(...template, '--var', '1=Ana')).toMatchObject({ type: 'template', to: '491701234567' })
  const refused: [string[], string][] = [
    [template, 'The template variable "body.1" is required.'],
    [['send', '--text', 'a', '--template', 'b'], 'Pass one of --text, --template and --body.'],
    [['send', '--text', 'a', '--var', '1=b'], '--var needs --template.'],
    [[...template, '--var', 'Ana'], 'Invalid --var "Ana". Enter KEY=VALUE'],
    [['send', '--template', 'fly'], 'Template "fly" not found in this workspace.'],
    [['send', '--text', 'a', '--from', '4930'], 'Sender "4930" not found. The senders of the workspace: '],
    [['send', '--body', '[]'], 'Invalid --body.'],
    [['send', '--to', '491701234567', '--text', 'a'], 'more than one sender. Choose one with --from'],
  ]
  for (const [words, message] of refused) {
    const { code, out, err } = await run(...words)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(message)
  }
  // The second sender did not get a message from this phone.
  const { out } = await run('send', '--from', '15550780002', '--text', 'Hello')
  expect(out).toMatch(/has not written to this sender within 24 hours, so WhatsApp delivers only templates/)
})

test('the examples of send work in the demo, and the hint after a failure fits its error', async () => {
  await run('phone', 'send', '--from', '16505550123', '--to', '15550780001', '--text', 'hi')
  await until('it was received', async () => (await json('events', '--event', 'message.received')).data.length > 0)
  for (const example of sendCommands[0]?.examples ?? []) {
    const words = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
    expect(await run(...words, '--wait'), example).toMatchObject({ code: 0, err: '' })
  }
  const undeliverable = ['send', '--to', '15550131026', '--from', '15550780001', '--wait']
  const failed = await run(...undeliverable, '--template', 'intake_form', '--var', '1=Ana')
  expect(failed.out).toMatch(/Status: failed \(Message undeliverable\)\.\nCheck the number\..+\n$/)
  const closed = await run('send', '--to', '491709999999', '--from', '15550780001', '--text', 'hi', '--wait')
  expect(closed.out).toMatch(/Status: failed \(.*\)\.\n491709999999 has not written to this sender within 24 hours/)
})

test('trigger lists every event type, and makes each of them happen', async () => {
  const types = (await json('trigger')).data.map(({ type }: { type: string }) => type)
  expect(types).toEqual([...eventTypes])
  for (const type of eventTypes) {
    expect(await json('trigger', type)).toMatchObject({ how: 'simulator', event: { type } })
  }
  // Even if the balance is low already. It stays as it was.
  const [{ id }] = (await json('workspace', 'list')).data
  const credit = async (amount: number): Promise<number> =>
    JSON.parse((await run('workspace', 'credit', '--json', '--note', 'test', '--', id, String(amount))).out).balance
  const balance = await credit(1)
  expect(await credit(5 - balance)).toBe(5)
  await until('it is noticed', async () => (await json('events', '--event', 'credits.low')).data.length === 2)
  expect(await json('trigger', 'credits.low')).toMatchObject({ event: { data: { balance: 100, threshold: 100 } } })
  expect(await credit(balance)).toBe(balance + 5)
  expect((await run('trigger', 'message.lost')).err).toMatch(/^"message\.lost" is not an event type\. Choose from /)
})

test('with the API key, trigger sends to test numbers and send writes to the handset, without the database', async () => {
  const byKey = { PARLEY_DATA_DIR: dataDir, PARLEY_URL: service.url, PARLEY_API_KEY: apiKey }
  const triggered = await runParley(['trigger', 'message.failed', '--json'], byKey)
  expect(triggered.err).toBe('')
  expect(JSON.parse(triggered.out)).toMatchObject({ how: 'simulator', event: { type: 'message.failed' } })
  const hello = ['send', '--template', 'intake_form:en', '--var', '1=Ana', '--wait']
  const sent = await runParley(hello, byKey)
  expect(sent.out).toMatch(/^Accepted message msg_\S+ to 16505550123 for 1 credit\.\nStatus: (delivered|read)\.\n$/)
  const failed = await runParley([...hello, '--to', '15550131026', '--from', '15550780001'], byKey)
  expect(failed.code).toBe(1)
  expect(failed.out).toMatch(/Status: failed \(Message undeliverable\)\.\nCheck the number\..+\n$/)
})

test('the beginning of the ID of an event is enough to deliver it again', async () => {
  const words = ['webhook', 'create', '--name', 'CRM', '--url', 'http://127.0.0.1:9/', '--event', 'message.received']
  const { id: webhook } = await json(...words)
  await run('phone', 'send', '--from', '16505550123', '--to', '15550780001', '--text', 'again')
  const [{ event_id: id }] = await until('it is delivered', async () => {
    const { data } = await json('delivery', 'list', '--webhook', webhook)
    return data.length > 0 && data
  })
  expect(await json('delivery', 'retry', id.slice(0, 23).toUpperCase(), '--webhook', webhook.slice(-12))).toEqual({
    event_id: id,
    webhook_id: webhook,
    state: 'pending',
  })
  expect((await run('delivery', 'retry', id.slice(0, 4), '--webhook', webhook)).err).toMatch(
    /^"\w{4}" fits (\d+|more than 20) events\. Enter more of the ID:\n {2}\S{36} {2}\w+\.\w+\n/,
  )
  for (const unknown of ['ffff', 'not-an-id', id.slice(9)]) {
    expect((await run('delivery', 'retry', unknown, '--webhook', webhook)).err).toBe(
      `No event has an ID that begins with "${unknown}". Run "./parley delivery list" to see the latest.\n`,
    )
  }
})

test('events continues at a cursor, and prints new events of a type as they happen', async () => {
  const first = await json('events', '--limit', '2')
  expect(first).toMatchObject({ object: 'list', has_more: true, next_cursor: expect.any(String) })
  const second = await json('events', '--limit', '2', '--after', first.next_cursor)
  expect(second.data[0].id).not.toBe(first.data[1].id)
  const listed = await run('events', '--limit', '1', '--event', 'message.sent,message.received', '--workspace', 'Demo')
  expect(listed.out).toMatch(
    /^ID +TIME +TYPE +ABOUT\n[\s\S]*\nMore: \.\/parley events --workspace [0-9a-f-]+ --event message\.sent --event message\.received --limit 1 --after \S+\n$/,
  )
  const following = follow('events', '--follow', '--event', 'message.received', '--json')
  await until('it follows', () => following.err().includes('Press Ctrl+C'))
  await run('phone', 'send', '--from', '491701234567', '--to', '15550780001', '--text', 'followed')
  const line = await until('it is printed', () =>
    following
      .out()
      .split('\n')
      .find((each) => each.includes('followed')),
  )
  expect(JSON.parse(line)).toMatchObject({ type: 'message.received', data: { text: 'followed' } })
  expect(await stop(following)).toBe(0)
  expect(following.err()).toMatch(/To continue: \.\/parley events --follow --event message\.received --after \S+\n$/)
  expect((await run('events', '--limit', '0')).err).toMatch(
    /^Invalid --limit "0"\. Enter a whole number from 1 to 1000\./,
  )
})

test('logs shows requests, and prints new ones as they are made', async () => {
  const get = (path: string) => fetch(service.url + path, { headers: { authorization: `Bearer ${apiKey}` } })
  const following = follow('logs', '--follow')
  await until('it follows', () => following.err().includes('Press Ctrl+C'))
  expect((await get('/v1/me')).status).toBe(200)
  expect((await get('/v1/templates/tpl_x')).status).toBe(404)
  await until('both are printed', () => following.out().trimEnd().split('\n').length === 2)
  expect(following.out()).toMatch(/ {2}200 {2}GET {2}\/v1\/me {2}\d+ ms {2}Demo key {2}req_\S+$/m)
  expect(following.out()).toMatch(
    / {2}404 {2}GET {2}\/v1\/templates\/\S+ {2}\d+ ms {2}not_found {2}Demo key {2}req_\S+$/m,
  )
  expect(await stop(following)).toBe(0)
  expect((await json('logs', '--status', '4xx')).data).toMatchObject([{ status: 404, code: 'not_found' }])
  expect((await run('logs', '--status', 'many')).err).toMatch(/^Invalid option --status\./)
})

test('logs --follow does not print requests that were made before it began', async () => {
  const get = (path: string) => fetch(service.url + path, { headers: { authorization: `Bearer ${apiKey}` } })
  await Promise.all(Array.from({ length: 30 }, () => get('/v1/senders')))
  const logged = () => json('logs', '--path', '/v1/senders', '--limit', '100')
  await until('they are logged', async () => (await logged()).data.length >= 30)
  const following = follow('logs', '--follow')
  await until('it follows', () => following.err().includes('Press Ctrl+C'))
  await get('/v1/templates/tpl_y')
  await until('it is printed', () => following.out().includes('/v1/templates/'))
  expect(following.out().trimEnd().split('\n')).toHaveLength(1)
})

test('after kill -9, commands say that the service is not running', async () => {
  service.child.kill('SIGKILL')
  await service.ended
  const notRunning = { code: 1, out: '', err: 'The service is not running. Start it with: npm start\n' }
  expect(await run('phone', 'send', '--from', '16505550123', '--to', '15550780001', '--text', 'hi')).toEqual(notRunning)
  expect(await run('send', '--text', 'hi')).toEqual(notRunning)
  expect((await run('doctor', '--offline')).out).toMatch(/^warning +service +Parley is not running\. It was ended/m)
  const words = ['send', '--to', '16505550123', '--from', '15550780001', '--text', 'later']
  expect((await run(...words)).out).toContain('The service is not running. It sends the message when you start it')
})
