import { get } from 'node:http'
import { expect, test } from 'vitest'
import { simulatedFailures } from '../network/test-numbers.ts'
import { phoneActions } from '../phones/actions.ts'
import { startSimulator } from '../start.ts'
import { appId, hello, newWorld, numberId, phone, wabaId } from '../testing/world.ts'
import { controlPaths } from './routes.ts'

async function caller(url: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${url}/control${path}`, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  // Every answer read here is a thing with an id, a token, or a list that is only compared.
  return { status: response.status, body: (await response.json()) as { id: string; token: string } }
}

test('a stranger can build a world with the control API alone and talk in it', async () => {
  const { simulator, receiver } = await newWorld()
  const ask = (method: string, path: string, body?: unknown) => caller(simulator.url, method, path, body)
  await ask('POST', '/reset', { dataset: 'empty' })
  expect((await ask('GET', '/apps')).body).toEqual([])
  const app = (await ask('POST', '/apps', { name: 'Mine', secret: 's3cret', verifyToken: 'demo-verify-token' })).body
  const waba = (await ask('POST', '/wabas', { name: 'My account' })).body
  const number = (await ask('POST', '/numbers', { wabaId: waba.id, phoneNumber: '+49 170 1112223' })).body
  const { token } = (await ask('POST', '/tokens', { appId: app.id })).body
  await ask('POST', '/templates', {
    wabaId: waba.id,
    name: 'hi',
    language: 'de',
    category: 'UTILITY',
    components: [{ type: 'BODY', text: 'Hallo' }],
  })
  expect((await ask('PUT', `/apps/${app.id}/callback`, { url: receiver.url })).status).toBe(200)
  const sent = await fetch(`${simulator.url}/v25.0/${number.id}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({
      messaging_product: 'whatsapp',
      to: phone,
      type: 'template',
      template: { name: 'hi', language: { code: 'de' } },
    }),
  })
  expect(sent.status).toBe(200)
  await ask('POST', `/phones/${phone}/say`, { to: '491701112223', text: 'Moin' })
  await ask('POST', '/clock/advance', { ms: 50 })
  expect(receiver.statuses().map((one) => one.status)).toEqual(['sent', 'delivered'])
  expect(receiver.messages()).toMatchObject([{ text: { body: 'Moin' } }])
  expect((await ask('GET', `/phones/${phone}/messages?to=${number.id}`)).body).toMatchObject([
    { direction: 'out', journey: { state: 'delivered' } },
    { direction: 'in', content: { body: 'Moin' } },
  ])
})

test.each([
  ['POST', '/numbers', { wabaId, phoneNumber: 'abc' }, 400, 'phoneNumber'],
  ['POST', '/numbers', { wabaId: '99999', phoneNumber: '+4917012345' }, 404, 'wabaId'],
  ['POST', '/numbers', { wabaId, phoneNumber: '15550780001' }, 409, 'phoneNumber'],
  ['POST', '/numbers', { phoneNumber: '+4917012345' }, 400, 'wabaId'],
  ['POST', `/phones/${phone}/say`, {}, 400, 'text'],
  ['POST', `/phones/${phone}/say`, { text: 'x', colour: 'red' }, 400, 'colour'],
  ['POST', `/phones/${phone}/say`, { text: 'x', to: '123' }, 404, 'to'],
  ['POST', `/phones/${phone}/image`, { base64: '***' }, 400, 'image.base64'],
  ['POST', `/phones/${phone}/location`, { latitude: 91, longitude: 0 }, 400, 'latitude'],
  ['POST', `/phones/${phone}/tap`, { message: 'wamid.X', button: 'x' }, 404, 'message'],
  ['POST', `/phones/${phone}/order`, { items: [{ quantity: 1 }] }, 400, 'items[0].retailerId'],
  ['POST', '/phones/abc/say', { text: 'x' }, 400, 'phone'],
  ['PATCH', '/tokens/demo-access-token', { expiresAt: 'soon' }, 400, 'expiresAt'],
  ['PATCH', '/switches', { pairLimit: 'no' }, 400, 'pairLimit'],
  ['PATCH', '/switches', { warp: 9 }, 400, 'warp'],
  ['PATCH', '/webhooks', { batchSize: 1001 }, 400, 'batchSize'],
  ['PUT', `/apps/${appId}/callback`, { url: 'http://127.0.0.1:1/x' }, 400, 'url'],
  ['PUT', '/apps/1/callback', { url: null }, 404, 'app'],
  ['POST', '/clock/advance', { ms: -1 }, 400, 'ms'],
  ['POST', '/reset', { dataset: 'mars' }, 400, 'dataset'],
  ['GET', '/log?limit=many', undefined, 400, 'limit'],
  ['POST', '/apps', '{', 400, null],
  ['POST', '/apps', [], 400, 'The body'],
  ['GET', '/nowhere', undefined, 404, null],
])('%s %s with %j is refused with %i, naming %s', async (method, path, body, status, field) => {
  const { simulator } = await newWorld()
  const answer = await caller(simulator.url, method, path, body)
  expect(answer).toMatchObject({ status, body: { error: { message: expect.any(String), field } } })
})

test('the log shows every call and every webhook with its answer, and no token', async () => {
  const { control, send, simulator } = await newWorld()
  await send(hello)
  const log = (await caller(simulator.url, 'GET', '/log?limit=10')).body
  expect(log).toMatchObject([
    {
      kind: 'call',
      method: 'POST',
      url: `/v25.0/${numberId}/messages`,
      status: 200,
      response: expect.stringContaining('wamid.'),
    },
    { kind: 'webhook', status: 200, attempt: 1, updates: 1, signature: expect.stringMatching(/^sha256=/) },
  ])
  expect(JSON.stringify(log)).not.toContain('demo-access-token')
  control.log.clear()
  expect(control.log.list()).toEqual([])
})

test('events are streamed as they happen', async () => {
  const { control, simulator } = await newWorld()
  let seen = ''
  const stream = get(`${simulator.url}/control/events`, (response) => {
    response.on('data', (part) => {
      seen += part
    })
  })
  stream.on('error', () => undefined)
  await expect.poll(() => seen).toContain(': listening')
  await control.phones.say(phone, { to: numberId, text: 'live' })
  await expect.poll(() => seen).toMatch(/event: message\ndata: {.*"live".*}\n\n/)
  await expect.poll(() => seen).toContain('event: wire')
  stream.destroy()
})

test('a reset starts the world anew but goes on telling those who listen', async () => {
  const { control, receiver, send } = await newWorld()
  await send(hello)
  control.switches.set({ pairLimit: false })
  control.reset()
  expect(control.phones.messages(phone)).toEqual([])
  expect(control.switches.get().pairLimit).toBe(true)
  receiver.clear()
  await control.phones.say(phone, { to: numberId, text: 'again' })
  await control.idle()
  expect(receiver.messages()).toHaveLength(1)
})

test('news of any kind can be posted for an account, and a template paused', async () => {
  const { control, receiver } = await newWorld()
  control.wabas.notify(wabaId, { field: 'account_update', value: { event: 'ACCOUNT_DELETED' } })
  control.templates.setStatus('700000000000011', { status: 'PAUSED' })
  await control.idle()
  expect(receiver.changes().map((change) => [change.field, change.value.event])).toEqual([
    ['account_update', 'ACCOUNT_DELETED'],
    ['message_template_status_update', 'PAUSED'],
  ])
})

test('a world can be given as an object, and a wrong one is named', async () => {
  const simulator = await startSimulator({ dataset: { apps: [{ id: '12345' }], wabas: [{ id: '54321' }] } })
  expect(simulator.control.wabas.list()[0]?.subscriptions).toEqual({ '12345': { override: null } })
  await simulator.stop()
  await expect(startSimulator({ dataset: { wabas: [{ id: 'x' }] } })).rejects.toThrow(/dataset\.wabas\[0\]\.id must be/)
})

test('stopping is quick, whatever hangs', async () => {
  const { control, simulator, receiver } = await newWorld()
  receiver.holds(() => undefined)
  await control.phones.say(phone, { to: numberId, text: 'stuck' })
  const hanging = fetch(`${simulator.url}/v25.0/${numberId}/messages`, {
    method: 'POST',
    headers: { authorization: 'Bearer demo-access-token' },
    body: JSON.stringify({ messaging_product: 'whatsapp', to: '15559000001', ...hello }),
  }).catch(() => 'cut')
  await expect.poll(() => receiver.requests.length).toBeGreaterThan(0)
  const startedAt = performance.now()
  await simulator.stop()
  expect(performance.now() - startedAt).toBeLessThan(1_000)
  expect(await hanging).toBe('cut')
})

test('a web page of another site cannot use the control API', async () => {
  const { simulator } = await newWorld()
  const status = (headers: Record<string, string>) =>
    new Promise((resolve) =>
      get(`${simulator.url}/control/tokens`, { headers }, (response) => resolve(response.resume().statusCode)),
    )
  expect(await status({ origin: 'https://evil.example' })).toBe(403)
  expect(await status({ host: 'rebound.example:8090' })).toBe(403)
  expect(await status({ origin: 'http://localhost:8080' })).toBe(200)
  expect(await status({ origin: simulator.url })).toBe(200)
  expect(await status({ origin: 'http://192.168.1.5:8090', host: 'rebound.example:8090' })).toBe(403)
  expect(await status({ origin: 'http://rebound.example:8090', host: 'rebound.example:8090' })).toBe(403)
})

test('the manual knows every route, phone action, switch and magic number', async () => {
  const { control, simulator } = await newWorld()
  const manual = await (await fetch(`${simulator.url}/readme`)).text()
  const words = [
    ...controlPaths(),
    ...Object.keys(phoneActions).map((name) => `\`${name}\``),
    ...Object.keys(control.switches.get()).map((name) => `\`${name}\``),
    ...Object.keys(control.webhooks.get().settings).map((name) => `\`${name}\``),
    ...simulatedFailures.map(([suffix]) => `15559${String(suffix).padStart(6, '0')}`),
  ]
  expect(words.filter((word) => !manual.includes(word))).toEqual([])
})

test('the status page says what is here', async () => {
  const { simulator } = await newWorld()
  expect(await (await fetch(`${simulator.url}/status`)).text()).toContain('+15550780001')
  expect(await (await fetch(`${simulator.url}/readme`)).text()).toContain('/control/phones')
})
