import { get } from 'node:http'
import { expect, test } from 'vitest'
import { businessActions } from '../business/actions.ts'
import { simulatedFailures } from '../network/test-numbers.ts'
import { phoneActions } from '../phones/actions.ts'
import { startSimulator } from '../start.ts'
import { appId, demoSecrets, hello, newWorld, numberId, phone, wabaId } from '../testing/world.ts'
import { controlPaths } from './routes.ts'

async function callControl(url: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${url}/control${path}`, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  // Each response read here is an object with an ID, a token, or a list that is only compared.
  return { status: response.status, body: (await response.json()) as { id: string; token: string } }
}

test('the control API can create all objects needed to send and receive messages', async () => {
  const { simulator, receiver } = await newWorld()
  const call = (method: string, path: string, body?: unknown) => callControl(simulator.url, method, path, body)
  await call('POST', '/reset', { dataset: 'empty' })
  expect((await call('GET', '/apps')).body).toEqual([])
  const app = (await call('POST', '/apps', { name: 'Mine', secret: 's3cret', verifyToken: demoSecrets.verifyToken }))
    .body
  const waba = (await call('POST', '/wabas', { name: 'My account' })).body
  const number = (await call('POST', '/numbers', { wabaId: waba.id, phoneNumber: '+49 170 1112223' })).body
  const { token } = (await call('POST', '/tokens', { appId: app.id })).body
  await call('POST', '/templates', {
    wabaId: waba.id,
    name: 'hi',
    language: 'de',
    category: 'UTILITY',
    components: [{ type: 'BODY', text: 'Hallo' }],
  })
  expect((await call('PUT', `/apps/${app.id}/callback`, { url: receiver.url })).status).toBe(200)
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
  await call('POST', `/phones/${phone}/say`, { to: '491701112223', text: 'Moin' })
  await call('POST', '/clock/advance', { ms: 50 })
  expect(receiver.statuses().map((one) => one.status)).toEqual(['sent', 'delivered'])
  expect(receiver.messages()).toMatchObject([{ text: { body: 'Moin' } }])
  expect((await call('GET', `/phones/${phone}/messages?to=${number.id}`)).body).toMatchObject([
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
  ['POST', '/numbers/1/echo', { phone, text: 'x' }, 404, 'number'],
  ['POST', `/numbers/${numberId}/echo`, { phone: 'abc', text: 'x' }, 400, 'phone'],
  ['POST', `/numbers/${numberId}/handover`, { phone, owner: 'nobody' }, 400, 'owner'],
  [
    'POST',
    `/numbers/${numberId}/history`,
    { threads: [{ phone, messages: [{ at: 'soon' }] }] },
    400,
    'threads[0].messages[0].at',
  ],
  ['POST', `/wabas/${wabaId}/notify`, { field: 'calls' }, 400, 'value'],
  ['PATCH', `/tokens/${demoSecrets.accessToken}`, { expiresAt: 'soon' }, 400, 'expiresAt'],
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
])('%s %s with %j returns %i and names the field %s', async (method, path, body, status, field) => {
  const { simulator } = await newWorld()
  const response = await callControl(simulator.url, method, path, body)
  expect(response).toMatchObject({ status, body: { error: { message: expect.any(String), field } } })
})

test('the log has every API call and webhook with its response, and no token', async () => {
  const { control, send, simulator } = await newWorld()
  await send(hello)
  const log = (await callControl(simulator.url, 'GET', '/log?limit=10')).body
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
  expect(JSON.stringify(log)).not.toContain(demoSecrets.accessToken)
  control.log.clear()
  expect(control.log.list()).toEqual([])
})

test('GET /control/events streams events as they happen', async () => {
  const { control, simulator } = await newWorld()
  let received = ''
  const stream = get(`${simulator.url}/control/events`, (response) => {
    response.on('data', (part) => {
      received += part
    })
  })
  stream.on('error', () => undefined)
  await expect.poll(() => received).toContain(': listening')
  await control.phones.say(phone, { to: numberId, text: 'live' })
  await expect.poll(() => received).toMatch(/event: message\ndata: {.*"live".*}\n\n/)
  await expect.poll(() => received).toContain('event: wire')
  stream.destroy()
})

test('a reset replaces the state but keeps the callback of an app that exists again', async () => {
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

test('any webhook field can be posted for an account, and a template can be paused', async () => {
  const { control, receiver } = await newWorld()
  control.wabas.notify(wabaId, { field: 'account_update', value: { event: 'ACCOUNT_DELETED' } })
  control.templates.setStatus('700000000000011', { status: 'PAUSED' })
  await control.idle()
  expect(receiver.changes().map((change) => [change.field, change.value.event])).toEqual([
    ['account_update', 'ACCOUNT_DELETED'],
    ['message_template_status_update', 'PAUSED'],
  ])
})

test('a dataset can be an object, and the error names an invalid field', async () => {
  const simulator = await startSimulator({ dataset: { apps: [{ id: '12345' }], wabas: [{ id: '54321' }] } })
  expect(simulator.control.wabas.list()[0]?.subscriptions).toEqual({ '12345': { override: null } })
  await simulator.stop()
  await expect(startSimulator({ dataset: { wabas: [{ id: 'x' }] } })).rejects.toThrow(/dataset\.wabas\[0\]\.id must be/)
})

test('stop does not wait for requests that hang', async () => {
  const { control, simulator, receiver } = await newWorld()
  receiver.holdResponses(() => undefined)
  await control.phones.say(phone, { to: numberId, text: 'stuck' })
  const hanging = fetch(`${simulator.url}/v25.0/${numberId}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${demoSecrets.accessToken}` },
    body: JSON.stringify({ messaging_product: 'whatsapp', to: '15559000001', ...hello }),
  }).catch(() => 'cut')
  await expect.poll(() => receiver.requests.length).toBeGreaterThan(0)
  const startedAt = performance.now()
  await simulator.stop()
  expect(performance.now() - startedAt).toBeLessThan(8_000)
  expect(await hanging).toBe('cut')
})

test('the manual lists every route, phone action, switch, setting and magic number', async () => {
  const { control, simulator } = await newWorld()
  const manual = await (await fetch(`${simulator.url}/readme`)).text()
  const terms = [
    ...controlPaths(),
    ...Object.keys({ ...phoneActions, ...businessActions }).map((name) => `\`${name}\``),
    ...Object.keys(control.switches.get()).map((name) => `\`${name}\``),
    ...Object.keys(control.webhooks.get().settings).map((name) => `\`${name}\``),
    ...simulatedFailures.map(([suffix]) => `15559${String(suffix).padStart(6, '0')}`),
  ]
  expect(terms.filter((term) => !manual.includes(term))).toEqual([])
  const page = await fetch(`${simulator.url}/manual`)
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  const text = (await page.text()).replaceAll(/<\/?code>/g, '`').replaceAll('&quot;', '"')
  expect(terms.filter((term) => !text.includes(term))).toEqual([])
  // It consists of two files, with links between them.
  expect(text).toContain('<a href="#routes">control API</a>')
  expect(text).toContain('<a href="#network-rules">network rules</a>')
})

test('/status lists the numbers and /readme returns the manual', async () => {
  const { simulator } = await newWorld()
  expect(await (await fetch(`${simulator.url}/status`)).text()).toContain('+15550780001')
  expect(await (await fetch(`${simulator.url}/readme`)).text()).toContain('/control/phones')
})
