import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Simulator, startSimulator } from '@parley/simulator/start'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { bundleOf } from '../../scripts/prepare.mjs'
import { newDatabase } from '../../server/testing/database.ts'
import { urlOf } from '../../server/testing/service.ts'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { runParley } from '../testing/run-parley.ts'

/** The commands that use the WhatsApp network: `app`, `connection`, `phone`. */
let simulator: Simulator
let env: Record<string, string>
let drop: () => Promise<void>

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, dataset: 'demo' })
  const database = await newDatabase()
  drop = database.drop
  env = {
    DATABASE_URL: urlOf(database.connection),
    PARLEY_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    PARLEY_SIMULATOR_PORT: new URL(simulator.url).port,
    PUBLIC_URL: 'https://parley.example',
  }
})

afterAll(async () => {
  await simulator.stop()
  await drop()
})

const run = (words: string[], more: Record<string, string> = {}) => runParley(words, { ...env, ...more })

/** Runs a command with --json and parses its output. */
async function json<T>(words: string[], more: Record<string, string> = {}): Promise<T> {
  const { code, out, err } = await run([...words, '--json'], more)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out) as T
}

const newApp = () =>
  json<{ id: string }>(
    [
      'app',
      'create',
      '--name',
      'Demo',
      '--app-secret',
      simulator.control.apps.list()[0]?.secret ?? '',
      '--verify-token',
      'v-1',
    ].concat('--graph-url', simulator.url),
  )

test('app create prints the callback URL and no secrets', async () => {
  const app = await newApp()
  const ingress = `/network/whatsapp/${app.id}`
  expect(app).toEqual({
    id: app.id,
    name: 'Demo',
    graph_url: simulator.url,
    meta_app_id: null,
    ingress_path: ingress,
    callback_url: `https://parley.example${ingress}`,
    created_at: expect.any(String),
  })
  expect(await json(['app', 'list'])).toMatchObject({ object: 'list', data: expect.arrayContaining([app]) })
  const { out } = await run(['app', 'create', '--name', 'X', '--verify-token', 'v-3141'], {
    PARLEY_APP_SECRET: 's-2718',
  })
  expect(out).toMatch(/Callback URL {2}https:\/\/parley\.example\/network\/whatsapp\/[0-9a-f-]{36}\n/)
  expect(out).not.toMatch(/v-3141|s-2718/)
})

test('connecting an account names the callback of its own that it keeps', async () => {
  const workspace = await json<{ id: string }>(['workspace', 'create', '--name', 'Kiosk'])
  const [metaApp] = simulator.control.apps.list()
  const waba = simulator.control.wabas.create({ appIds: [metaApp?.id ?? ''] })
  const { token } = simulator.control.tokens.create({ appId: metaApp?.id ?? '', wabaIds: [waba.id] })
  const url = 'https://there.example/hook'
  waba.subscriptions[metaApp?.id ?? ''] = { override: { url, verifyToken: 'there' } }
  const options = ['--workspace', workspace.id, '--app', (await newApp()).id, '--waba-id', waba.id]
  const { out } = await run(['connection', 'create', ...options], { PARLEY_ACCESS_TOKEN: token })
  const remark = `Account ${waba.id} sends its messages to a callback of its own, which was kept: ${url}`
  expect(out.trimEnd().split('\n').at(-1)).toBe(remark)
  const id = /Created connection (\S+)\./.exec(out)?.[1] ?? ''
  expect((await run(['connection', 'change', id], { PARLEY_ACCESS_TOKEN: token })).out).toContain(remark)
})

test('an account can be connected, synced and listed', async () => {
  const workspace = await json<{ id: string }>(['workspace', 'create', '--name', 'Clinic'])
  const app = await newApp()
  const options = ['--workspace', workspace.id, '--app', app.id, '--waba-id', '102290000000001']
  const accessToken = simulator.control.tokens.list()[0]?.token ?? ''
  const token = { PARLEY_ACCESS_TOKEN: accessToken }
  const connection = await json<{ id: string }>(['connection', 'create', ...options], token)
  expect(connection).toMatchObject({
    account_id: workspace.id,
    app_id: app.id,
    waba_id: '102290000000001',
    sync_error: null,
    senders: 2,
    templates: simulator.control.templates.list().length,
  })
  expect(await json(['connection', 'sync', connection.id])).toMatchObject({ id: connection.id, senders: 2 })
  const listed = await json<{ data: unknown[] }>(['connection', 'list', '--workspace', workspace.id])
  expect(listed.data).toMatchObject([{ id: connection.id, synced_at: expect.any(String) }])
  expect(JSON.stringify(listed)).not.toContain(accessToken)
  expect((await run(['connection', 'list'])).out).toContain(connection.id)

  const again = await run(['connection', 'create', ...options, '--access-token', accessToken])
  expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining('already') })
  const rejected = await run(['connection', 'create', ...options.with(5, '102290000000002'), '--access-token', 'wrong'])
  expect(rejected).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/^WhatsApp rejected the request: .*190\)\n$/),
  })
})

test('"-" reads each secret from a line of standard input', () => {
  const words = ['app', 'create', '--name', 'Piped', '--app-secret', '-', '--verify-token', '-', '--json']
  const entry = bundleOf(join(import.meta.dirname, '..', '..'))
  const ended = spawnSync(process.execPath, [entry, ...words], { env, input: 'one\ntwo\n', encoding: 'utf8' })
  expect(ended).toMatchObject({ status: 0, stderr: '' })
  expect(JSON.parse(ended.stdout)).toMatchObject({ name: 'Piped', graph_url: 'https://graph.facebook.com' })
})

test('a missing secret is reported with the option and the environment variable', async () => {
  const { code, err } = await run(['app', 'create', '--name', 'X'])
  expect(code).toBe(1)
  expect(err).toContain('Missing --app-secret. Pass it as an option or set PARLEY_APP_SECRET.')
  expect(err).toContain('Usage: ./parley app create --app-id ID --app-secret SECRET --access-token TOKEN [options]')
})

const phone = ['phone', 'send', '--from', '+49 170 1234567', '--to', '15550780001']

test('phone send sends text, files, locations and orders', async () => {
  const file = join(tempFolder(), 'report.pdf')
  writeFileSync(file, '%PDF-1.4 hello')
  const sent = async (...words: string[]) => json<{ wa_message_id: string }>([...phone, ...words])
  const text = await sent('--text', 'hola')
  expect(text).toEqual({ wa_message_id: text.wa_message_id, from: '491701234567', to: '15550780001', type: 'text' })
  await sent('--document', file, '--caption', 'see here')
  await sent('--image', 'sample')
  await sent('--location', '52.52,13.405,Tower,Alex 1, Berlin')
  await sent('--order', 'SKU-1:2,SKU-3', '--reply-to', text.wa_message_id)
  await sent('--order', 'SKU-1:2@9.99EUR', '--note', 'No onions')
  const chat = simulator.control.phones.messages('491701234567')
  expect(chat).toMatchObject([
    { type: 'text', content: { body: 'hola' } },
    { type: 'document', content: { filename: 'report.pdf', mime_type: 'application/pdf', caption: 'see here' } },
    { type: 'image' },
    { type: 'location', content: { latitude: 52.52, longitude: 13.405, name: 'Tower', address: 'Alex 1, Berlin' } },
    { type: 'order', content: { product_items: [{ quantity: 2 }, { product_retailer_id: 'SKU-3', quantity: 1 }] } },
    { content: { text: 'No onions', product_items: [{ quantity: 2, item_price: 9.99, currency: 'EUR' }] } },
  ])
})

test('phone send taps buttons, chooses rows, reacts and submits forms', async () => {
  const from = '16505550123'
  const token = simulator.control.tokens.list()[0]?.token
  const send = async (message: Record<string, unknown>) => {
    const response = await fetch(`${simulator.url}/v25.0/106540000000001/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messaging_product: 'whatsapp', to: from, ...message }),
    })
    expect(response.status, await response.clone().text()).toBe(200)
  }
  const reply = (...words: string[]) =>
    json<{ wa_message_id: string }>(['phone', 'send', '--from', from, '--to', '15550780001', ...words])
  await reply('--text', 'hi')
  const button = (id: string, title: string) => ({ type: 'reply', reply: { id, title } })
  await send({
    type: 'interactive',
    interactive: {
      type: 'button',
      body: { text: 'Coming?' },
      action: { buttons: [button('y', 'Yes'), button('n', 'No')] },
    },
  })
  await reply('--button', 'y')
  const sections = [{ title: 'Days', rows: [{ id: 'mon', title: 'Monday' }] }]
  await send({
    type: 'interactive',
    interactive: { type: 'list', body: { text: 'When?' }, action: { button: 'Choose', sections } },
  })
  await reply('--list-row', 'Monday')
  await reply('--reaction', '👍')
  const intake = { name: 'intake_form', language: { code: 'en' } }
  const components = [
    { type: 'body', parameters: [{ type: 'text', text: 'Ana' }] },
    { type: 'button', sub_type: 'flow', index: '0', parameters: [{ type: 'action', action: { flow_token: 'tok-1' } }] },
  ]
  await send({ type: 'template', template: { ...intake, components } })
  await reply('--flow-json', '{"name":"Ana"}')
  const card = join(tempFolder(), 'card.png')
  writeFileSync(card, 'a picture')
  const filled = await reply('--flow-json', '{}', '--flow-file', `photos=${card}`, '--flow-file', `photos=${card}`)
  const encrypted = await reply('--flow-json', '{}', '--flow-file', `photos=${card}`, '--flow-encrypted')
  const inbound = simulator.control.phones.messages(from).filter((message) => message.direction === 'in')
  expect(inbound).toMatchObject([
    { type: 'text' },
    { content: { button_reply: { id: 'y', title: 'Yes' } } },
    { content: { list_reply: { id: 'mon' } } },
    { type: 'reaction', content: { emoji: '👍' } },
    { content: { nfm_reply: { response_json: '{"flow_token":"tok-1","name":"Ana"}' } } },
    { id: filled.wa_message_id },
    { id: encrypted.wa_message_id },
  ])
  const photosOf = (index: number) => {
    const content = inbound[index]?.content as { nfm_reply: { response_json: string } } | undefined
    return (JSON.parse(content?.nfm_reply.response_json ?? '{}') as { photos?: unknown[] }).photos
  }
  const photo = { file_name: 'card.png', mime_type: 'image/png' }
  expect(photosOf(5)).toMatchObject([photo, photo])
  expect(photosOf(6)).toMatchObject([{ file_name: 'card.png', encryption_metadata: { iv: expect.any(String) } }])
})

interface Change {
  field: string
  value: Record<string, unknown> & { standby?: object }
}

/** The latest change in a webhook of the simulator, except statuses, which arrive at any time. */
async function webhook(): Promise<Change | undefined> {
  await simulator.control.idle()
  const changes = simulator.control.log.list({ limit: 1000 }).flatMap((entry) => {
    if (entry.kind !== 'webhook') return []
    const body = JSON.parse(entry.request) as { entry: { changes: Change[] }[] }
    return body.entry.flatMap((each) => each.changes)
  })
  return changes.findLast(({ value }) => 'messages' in value || !('statuses' in { ...value, ...value.standby }))
}

/** What the business does elsewhere is only in webhooks, so an app has to receive them. */
async function receiveWebhooks(): Promise<void> {
  const app = simulator.control.apps.list()[0]?.id ?? ''
  const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await simulator.control.apps.setCallback(app, { url, verify: false })
  onTestFinished(async () => {
    await simulator.control.idle()
    await simulator.control.apps.setCallback(app, { url: null })
    server.close()
  })
}

test('phone send edits and deletes messages, opens the chat and replies to a call permission request', async () => {
  await receiveWebhooks()
  const from = '491711111111'
  const send = (...words: string[]) =>
    json<{ wa_message_id: string; type: string }>(['phone', 'send', '--from', from, '--to', '15550780001', ...words])
  expect(await send('--welcome')).toMatchObject({ type: 'welcome' })
  expect((await webhook())?.value.messages).toMatchObject([{ type: 'request_welcome' }])
  const first = await send('--text', 'frist')
  await simulator.control.idle()
  const second = await send('--text', 'second')
  await simulator.control.idle()
  await send('--edit', 'first', '--reply-to', first.wa_message_id)
  expect((await webhook())?.value.messages).toMatchObject([
    { type: 'edit', edit: { original_message_id: first.wa_message_id, message: { text: { body: 'first' } } } },
  ])
  await send('--delete')
  expect((await webhook())?.value.messages).toMatchObject([
    { type: 'revoke', revoke: { original_message_id: second.wa_message_id } },
  ])
  const { err } = await run(['phone', 'send', '--from', from, '--to', '15550780001', '--call-permission', 'accept'])
  expect(err).toBe('This phone does not have a call permission request.\n')
  const interactive = {
    type: 'call_permission_request',
    body: { text: 'May we call you?' },
    action: { name: 'call_permission_request' },
  }
  const response = await fetch(`${simulator.url}/v25.0/106540000000001/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${simulator.control.tokens.list()[0]?.token}` },
    body: JSON.stringify({ messaging_product: 'whatsapp', to: from, type: 'interactive', interactive }),
  })
  expect(response.status).toBe(200)
  await send('--call-permission', 'reject')
  expect(simulator.control.phones.messages(from).at(-1)?.content).toEqual({
    type: 'call_permission_reply',
    call_permission_reply: { response: 'reject', response_source: 'user_action' },
  })
})

test('phone echo, handover, history, contacts and update do what the business does elsewhere', async () => {
  await receiveWebhooks()
  const [from, to] = ['15550780001', '491722222222']
  const echo = (...words: string[]) =>
    json<{ wa_message_id: string }>(['phone', 'echo', '--from', from, '--to', to, ...words])
  const written = await echo('--text', 'Open until six')
  expect(written).toEqual({ wa_message_id: expect.any(String), from, to, type: 'text', source: 'business_app' })
  expect(await webhook()).toMatchObject({
    field: 'smb_message_echoes',
    value: { message_echoes: [{ from, to, id: written.wa_message_id, text: { body: 'Open until six' } }] },
  })
  await echo('--edit', 'Open until seven')
  const original_message_id = written.wa_message_id
  expect((await webhook())?.value.message_echoes).toMatchObject([{ type: 'edit', edit: { original_message_id } }])
  await echo('--delete', '--reply-to', original_message_id)
  expect((await webhook())?.value.message_echoes).toMatchObject([{ type: 'revoke', revoke: { original_message_id } }])
  const photo = join(tempFolder(), 'menu.png')
  writeFileSync(photo, 'a picture')
  await echo('--image', photo, '--caption', 'Our menu')
  expect((await webhook())?.value.message_echoes).toMatchObject([
    { type: 'image', image: { caption: 'Our menu', mime_type: 'image/png' } },
  ])

  const handover = (...words: string[]) => json(['phone', 'handover', '--from', to, '--to', from, ...words])
  expect(await handover('--owner', 'agent')).toEqual({ from: to, to: from, owner: 'agent' })
  expect(await webhook()).toMatchObject({ field: 'messaging_handovers', value: { type: 'control_taken' } })
  simulator.control.phones.change(to, { online: false })
  await json(['phone', 'send', '--from', to, '--to', from, '--text', 'Open today?'])
  expect(await webhook()).toMatchObject({ field: 'standby', value: { standby: { messages: [{ type: 'text' }] } } })
  expect(await echo('--agent', '--text', 'Until six')).toMatchObject({ source: 'agent' })
  expect(simulator.control.phones.messages(to).at(-1)).toMatchObject({
    source: 'agent',
    content: { body: 'Until six' },
  })
  await handover('--owner', 'business', '--how', 'taken', '--summary', 'Asks when you close')
  expect(await webhook()).toMatchObject({
    value: {
      type: 'control_taken',
      control_taken: { conversation_context: { summary: { text: 'Asks when you close' } } },
    },
  })

  const threads = JSON.stringify([{ phone: to, messages: [{ text: 'hi' }, { from: 'business', text: 'hello' }] }])
  await json(['phone', 'history', '--to', from, '--threads', threads, '--phase', '1', '--progress', '55'])
  expect(await webhook()).toMatchObject({
    field: 'history',
    value: { history: [{ metadata: { phase: 1, progress: 55 }, threads: [{ id: to, messages: { length: 2 } }] }] },
  })
  await json(['phone', 'history', '--to', from, '--declined'])
  expect((await webhook())?.value.history).toMatchObject([{ errors: [{ code: 2593109 }] }])
  await json(['phone', 'contacts', '--to', from, '--from', to, '--from', '+1 650 555 0123', '--remove'])
  expect((await webhook())?.value.state_sync).toMatchObject([
    { action: 'remove', contact: { phone_number: to } },
    { action: 'remove', contact: { phone_number: '16505550123' } },
  ])
  await json(['phone', 'update', '--to', from, '--field', 'new_field', '--value', '{"any":["shape",null]}'])
  expect(await webhook()).toEqual({ field: 'new_field', value: { any: ['shape', null] } })
})

test.each([
  ['echo --from 15550780001 --to 491722222222', /^Nothing to write\. Pass one of --text, --image/],
  ['echo --from 15550780001 --to 491722222222 --text a --delete', /^--text and --delete are separate messages/],
  ['echo --from 15550780001 --to 491722222222 --agent --image sample', /^An agent writes only texts/],
  [
    'echo --from 15550780002 --to 491722222222 --text a',
    /^number: 15550780002 is not used in the WhatsApp Business app/,
  ],
  ['echo --from 15550780001 --to 491733333333 --agent --text a', /agent does not handle this conversation/],
  ['handover --from 491733333333 --to 15550780001 --owner me', /^owner must be one of agent, business/],
  ['history --to 15550780001 --threads x', /^Invalid --threads\. Enter JSON/],
  ['history --to 15550780001 --progress half', /^Invalid --progress "half"/],
  ['contacts --to 15550780001 --from me', /^Invalid --from "me"\. Enter a phone number/],
  ['update --to 15550789999 --field f --value 1', /^The simulator has no business number 15550789999/],
  ['update --to 15550780001 --field f --value {', /^Invalid --value\. Enter JSON/],
])('phone %s prints the error', async (words, message) => {
  const { code, out, err } = await run(['phone', ...words.split(' ')])
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(message)
})

test.each([
  [[], /^Nothing to send\. Pass one of --text, --image/],
  [['--text', 'a', '--order', 'b'], /^--text and --order are separate messages/],
  [['--order', 'a:b'], /^Invalid --order "a:b"\. Enter products such as/],
  [['--location', 'here'], /^Invalid --location "here"\. Enter LAT,LON/],
  [['--flow-json', '[1]'], /^Invalid --flow-json\. Enter JSON such as/],
  [['--image', '/no/such/file'], /^Cannot read the file "\/no\/such\/file" of --image \(ENOENT\)\.\n$/],
  [['--button', 'Maybe'], /does not have a message with buttons/],
  [['--text', 'a', '--delete'], /^--text and --delete are separate messages/],
  [['--call-permission', 'maybe'], /^response must be one of accept, reject/],
])('phone send with %j prints the error', async (words, message) => {
  const { code, out, err } = await run([...phone, ...words])
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(message)
})

test('phone record writes the chat as a scenario, without its contents unless they are wanted', async () => {
  const chat = ['--from', '+49 170 7654321', '--to', '15550780001']
  await json(['phone', 'send', ...chat, '--text', 'Hello Wilhelmina'])
  const file = join(tempFolder(), 'chat.json')
  const { code, out } = await run(['phone', 'record', ...chat, '--out', file])
  expect({ code, out }).toEqual({ code: 0, out: `Recorded 1 step in ${file}.\n` })
  const step = { from: 'person', after_ms: 0, action: 'say' }
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    version: 1,
    redacted: true,
    steps: [{ ...step, input: { text: 'Xxxxx Xxxxxxxxxx' } }],
  })
  const whole = { version: 1, steps: [{ ...step, input: { text: 'Hello Wilhelmina' } }] }
  expect(JSON.parse((await run(['phone', 'record', ...chat, '--with-contents'])).out)).toEqual(whole)
  expect(await json(['phone', 'record', ...chat, '--with-contents'])).toEqual(whole)
  const none = await run(['phone', 'record', ...chat.with(1, '491707654399')])
  expect(none).toMatchObject({ code: 1, err: '491707654399 has no messages with 15550780001 to record.\n' })
  const unwritable = await run(['phone', 'record', ...chat, '--out', join(file, 'x.json')])
  expect(unwritable).toMatchObject({ code: 1, err: expect.stringContaining('cannot be written: ENOTDIR.') })
})

test('phone send without a simulator explains how to start it', async () => {
  const without = (port: string) => run([...phone, '--text', 'x'], { PARLEY_SIMULATOR_PORT: port })
  expect((await without('9')).err).toMatch(/^Cannot reach the simulator on port 9 .* "npm start".*\n$/)
  expect((await without('0')).err).toMatch(/^The simulator is off\. .* PARLEY_SIMULATOR_PORT .*\n$/)
})
