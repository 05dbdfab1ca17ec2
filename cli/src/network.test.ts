import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Simulator, startSimulator } from '@parley/simulator/start'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newDatabase } from '../../server/testing/database.ts'
import { urlOf } from '../../server/testing/service.ts'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { runCli } from './cli.ts'

/** The commands that speak with the network: `app`, `connection`, `phone`. */
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

async function run(words: string[], more: Record<string, string> = {}) {
  const said = { out: '', err: '' }
  const keep = (where: 'out' | 'err') => (line: unknown) => {
    said[where] += `${line}\n`
  }
  const log = vi.spyOn(console, 'log').mockImplementation(keep('out'))
  const error = vi.spyOn(console, 'error').mockImplementation(keep('err'))
  try {
    return { code: await runCli(words, { ...env, ...more }), ...said }
  } finally {
    log.mockRestore()
    error.mockRestore()
  }
}

/** The one JSON document that a command prints. */
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
      'demo-app-secret',
      '--verify-token',
      'demo-verify-token',
    ].concat('--graph-url', simulator.url),
  )

test('an app is made, its ingress is told, and its secrets are not', async () => {
  const made = await newApp()
  const ingress = `/network/whatsapp/${made.id}`
  expect(made).toEqual({
    id: made.id,
    name: 'Demo',
    graph_url: simulator.url,
    ingress_path: ingress,
    callback_url: `https://parley.example${ingress}`,
    created_at: expect.any(String),
  })
  expect(await json(['app', 'list'])).toMatchObject({ object: 'list', data: expect.arrayContaining([made]) })
  const { out } = await run(['app', 'create', '--name', 'X', '--verify-token', 'v-3141'], {
    PARLEY_APP_SECRET: 's-2718',
  })
  expect(out).toMatch(/Callback URL {2}https:\/\/parley\.example\/network\/whatsapp\/[0-9a-f-]{36}\n/)
  expect(out).not.toMatch(/v-3141|s-2718/)
})

test('an account is connected, synchronised and listed', async () => {
  const workspace = await json<{ id: string }>(['workspace', 'create', '--name', 'Clinic'])
  const app = await newApp()
  const options = ['--workspace', workspace.id, '--app', app.id, '--waba-id', '102290000000001']
  const token = { PARLEY_ACCESS_TOKEN: 'demo-access-token' }
  const made = await json<{ id: string }>(['connection', 'create', ...options], token)
  expect(made).toMatchObject({
    account_id: workspace.id,
    app_id: app.id,
    waba_id: '102290000000001',
    sync_error: null,
    senders: 2,
    templates: simulator.control.templates.list().length,
  })
  expect(await json(['connection', 'sync', made.id])).toMatchObject({ id: made.id, senders: 2 })
  const listed = await json<{ data: unknown[] }>(['connection', 'list', '--workspace', workspace.id])
  expect(listed.data).toMatchObject([{ id: made.id, synced_at: expect.any(String) }])
  expect(JSON.stringify(listed)).not.toContain('demo-access-token')
  expect((await run(['connection', 'list'])).out).toContain(made.id)

  const again = await run(['connection', 'create', ...options, '--access-token', 'demo-access-token'])
  expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining('already') })
  const refused = await run(['connection', 'create', ...options.with(5, '102290000000002'), '--access-token', 'wrong'])
  expect(refused).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/^The network rejected the request: .*190\)\n$/),
  })
})

test('secrets come from standard input, a line each', () => {
  const words = ['app', 'create', '--name', 'Piped', '--app-secret', '-', '--verify-token', '-', '--json']
  const entry = join(import.meta.dirname, 'main.ts')
  const ended = spawnSync(process.execPath, [entry, ...words], { env, input: 'one\ntwo\n', encoding: 'utf8' })
  expect(ended).toMatchObject({ status: 0, stderr: '' })
  expect(JSON.parse(ended.stdout)).toMatchObject({ name: 'Piped', graph_url: 'https://graph.facebook.com' })
})

test('a secret that is given nowhere is asked for, with the ways to give it', async () => {
  const { code, err } = await run(['app', 'create', '--name', 'X'])
  expect(code).toBe(1)
  expect(err).toContain('--app-secret is missing, and PARLEY_APP_SECRET is not set.')
  expect(err).toContain('Usage: npx parley app create --name N --app-secret S --verify-token V')
})

const phone = ['phone', 'send', '--from', '+49 170 1234567', '--to', '15550780001']

test('a phone sends what a person can send', async () => {
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

test('a phone answers what a business sent', async () => {
  const from = '16505550123'
  const send = async (message: Record<string, unknown>) => {
    const response = await fetch(`${simulator.url}/v25.0/106540000000001/messages`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-access-token', 'content-type': 'application/json' },
      body: JSON.stringify({ messaging_product: 'whatsapp', to: from, ...message }),
    })
    expect(response.status, await response.clone().text()).toBe(200)
  }
  const response = (...words: string[]) =>
    json<{ wa_message_id: string }>(['phone', 'send', '--from', from, '--to', '15550780001', ...words])
  await response('--text', 'hi')
  const reply = (id: string, title: string) => ({ type: 'reply', reply: { id, title } })
  await send({
    type: 'interactive',
    interactive: {
      type: 'button',
      body: { text: 'Coming?' },
      action: { buttons: [reply('y', 'Yes'), reply('n', 'No')] },
    },
  })
  await response('--button', 'y')
  const sections = [{ title: 'Days', rows: [{ id: 'mon', title: 'Monday' }] }]
  await send({
    type: 'interactive',
    interactive: { type: 'list', body: { text: 'When?' }, action: { button: 'Choose', sections } },
  })
  await response('--list-row', 'Monday')
  await response('--reaction', '👍')
  const intake = { name: 'intake_form', language: { code: 'en' } }
  const components = [
    { type: 'body', parameters: [{ type: 'text', text: 'Ana' }] },
    { type: 'button', sub_type: 'flow', index: '0', parameters: [{ type: 'action', action: { flow_token: 'tok-1' } }] },
  ]
  await send({ type: 'template', template: { ...intake, components } })
  await response('--flow-json', '{"name":"Ana"}')
  const card = join(tempFolder(), 'card.png')
  writeFileSync(card, 'a picture')
  const filled = await response('--flow-json', '{}', '--flow-file', `photos=${card}`, '--flow-file', `photos=${card}`)
  const sealed = await response('--flow-json', '{}', '--flow-file', `photos=${card}`, '--flow-encrypted')
  const inbound = simulator.control.phones.messages(from).filter((message) => message.direction === 'in')
  expect(inbound).toMatchObject([
    { type: 'text' },
    { content: { button_reply: { id: 'y', title: 'Yes' } } },
    { content: { list_reply: { id: 'mon' } } },
    { type: 'reaction', content: { emoji: '👍' } },
    { content: { nfm_reply: { response_json: '{"flow_token":"tok-1","name":"Ana"}' } } },
    { id: filled.wa_message_id },
    { id: sealed.wa_message_id },
  ])
  const photosOf = (index: number) => {
    const content = inbound[index]?.content as { nfm_reply: { response_json: string } } | undefined
    return (JSON.parse(content?.nfm_reply.response_json ?? '{}') as { photos?: unknown[] }).photos
  }
  const photo = { file_name: 'card.png', mime_type: 'image/png' }
  expect(photosOf(5)).toMatchObject([photo, photo])
  expect(photosOf(6)).toMatchObject([{ file_name: 'card.png', encryption_metadata: { iv: expect.any(String) } }])
})

test.each([
  [[], /^Say what to send: one of --text, --image/],
  [['--text', 'a', '--order', 'b'], /^--text and --order are two messages/],
  [['--order', 'a:b'], /^--order is "a:b", but it takes products such as/],
  [['--location', 'here'], /^--location is "here", but it takes LAT,LON/],
  [['--flow-json', '[1]'], /^--flow-json takes JSON such as/],
  [['--image', '/no/such/file'], /^--image is "\/no\/such\/file", but that file cannot be read \(ENOENT\)\.\n$/],
  [['--button', 'Maybe'], /there is no such button|no such message/],
])('phone send with %j is helped', async (words, said) => {
  const { code, out, err } = await run([...phone, ...words])
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(said)
})

test('without a simulator, a phone says how to get one', async () => {
  const without = (port: string) => run([...phone, '--text', 'x'], { PARLEY_SIMULATOR_PORT: port })
  expect((await without('9')).err).toMatch(/^No simulator answers on port 9 .* "npm start".*\n$/)
  expect((await without('0')).err).toMatch(/^The simulator is off: PARLEY_SIMULATOR_PORT .*\n$/)
})
