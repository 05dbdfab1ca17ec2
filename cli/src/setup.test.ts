import { randomBytes } from 'node:crypto'
import { type Simulator, startSimulator } from '@parley/simulator/start'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDatabase } from '../../server/testing/database.ts'
import { asSuperuser, query } from '../../server/testing/filled-database.ts'
import { urlOf } from '../../server/testing/service.ts'
import { until } from '../../server/testing/until.ts'
import { runParley, serveParley, startCommand } from '../testing/run-parley.ts'

/** `app create` with an app ID: it sets up the app at Meta, which is the simulator here. */
let simulator: Simulator
let env: Record<string, string>
let drop: () => Promise<void>
let lastEntry: () => Promise<unknown>

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, dataset: 'empty' })
  const database = await newDatabase()
  drop = database.drop
  const entries = `select target_name as name, after->>'callbacks' as callbacks, after->>'waba_id' as account
    from audit_entries where action = 'app.configure' order by at desc, id desc limit 1`
  lastEntry = () => query(asSuperuser(database.connection), entries)
  env = {
    DATABASE_URL: urlOf(database.connection),
    PARLEY_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  }
})

afterAll(async () => {
  await simulator.stop()
  await drop()
})

const phone = '16505550123'

/** A step that takes more than two seconds prints a line, which a busy machine makes likely. */
const withoutProgress = (err: string): string => err.replaceAll('Connecting to WhatsApp…\n', '')

/** An app that is not set up, an account that does not send to it, and a token for both. */
function newMeta(phoneNumber: string) {
  const { control } = simulator
  const app = control.apps.create({ name: 'Shop app' })
  const { id: wabaId } = control.wabas.create({ appIds: [] })
  control.numbers.create({ wabaId, phoneNumber, verifiedName: 'Shop' })
  const { token } = control.tokens.create({ appId: app.id, wabaIds: [wabaId] })
  const words = ['app', 'create', '--app-id', app.id, '--graph-url', simulator.url]
  return { app, wabaId, words, secrets: { PARLEY_APP_SECRET: app.secret, PARLEY_ACCESS_TOKEN: token } }
}

test('one command leads from an empty app to a received message, and a second run changes nothing', async () => {
  const service = await serveParley(env)
  const settings = { ...env, PUBLIC_URL: service.url }
  await runParley(['workspace', 'create', '--name', 'Shop'], settings)
  const { app, wabaId, words, secrets } = newMeta('15553000001')
  const checked = await runParley([...words, '--check'], { ...settings, ...secrets })
  expect(withoutProgress(checked.err)).toBe('')
  expect(checked).toMatchObject({
    code: 1,
    out: expect.stringMatching(/would change {2}webhook +no callback → /),
  })

  const { code, out, err } = await runParley(words, { ...settings, ...secrets })
  expect({ code, err: withoutProgress(err) }).toEqual({ code: 0, err: '' })
  const linesOf = (text: string) => text.trimEnd().split('\n')
  expect(linesOf(out)).toEqual([
    `changed       app           Shop app (${app.id}), not stored yet → stored with its secret`,
    'ok            token         valid, does not expire',
    expect.stringMatching(
      /^changed {7}webhook {7}no callback → callback http:\/\/\S+\/network\/whatsapp\/[0-9a-f-]{36}, 21 fields$/,
    ),
    `changed       connection    account ${wabaId}, not connected → connected to Shop: 1 sender, 0 templates`,
    `changed       subscription  account ${wabaId} does not send to the app → account ${wabaId} sends to the app`,
    'ok            numbers       1 phone number',
    '',
    expect.stringMatching(/^Set up: app [0-9a-f-]{36}, connection [0-9a-f-]{36}\.$/),
  ])
  for (const secret of Object.values(secrets)) expect(out).not.toContain(secret)

  await simulator.control.phones.say(phone, { to: '15553000001', text: 'Are you open?' })
  await until('the message has arrived', async () =>
    (await runParley(['events', '--json'], settings)).out.includes('Are you open?'),
  )

  const again = await runParley(words, { ...settings, ...secrets })
  expect({ code: again.code, err: withoutProgress(again.err) }).toEqual({ code: 0, err: '' })
  expect(again.out).toMatch(/^(ok .*\n){6}\nEverything is set up already: app \S+, connection \S+\.\n$/)
  const both = await runParley(['connection', 'list', '--json'], settings)
  const connections = (JSON.parse(both.out) as { data: { app_id: string }[] }).data
  expect(connections).toHaveLength(1)

  // A second account of the app, with the same steps.
  const { id: other } = simulator.control.wabas.create({ appIds: [] })
  const { token } = simulator.control.tokens.create({ appId: app.id, wabaIds: [other] })
  const connect = ['connection', 'create', '--app', connections[0]?.app_id ?? '', '--waba-id', other]
  const second = await runParley([...connect, '--access-token', token], settings)
  expect(second).toMatchObject({ code: 0, out: expect.stringMatching(/^ok .*\nok .*\nok .*\nchanged +connection /) })
})

test.each<[string, (meta: ReturnType<typeof newMeta>) => Record<string, string>, RegExp]>([
  ['a wrong secret', () => ({ PARLEY_APP_SECRET: 'wrong' }), /^The app secret is not that of app \d+\. .*\n$/],
  [
    'a token without rights',
    ({ app }) => ({ PARLEY_ACCESS_TOKEN: simulator.control.tokens.create({ appId: app.id, scopes: [] }).token }),
    /^The access token lacks whatsapp_business_management and whatsapp_business_messaging\. .*\n$/,
  ],
  [
    'the token of another app',
    () => ({
      PARLEY_ACCESS_TOKEN: simulator.control.tokens.create({ appId: simulator.control.apps.create({}).id }).token,
    }),
    /^The access token belongs to another app\. .*\n$/,
  ],
])('app create with %s prints one line, and stores nothing', async (_case, change, message) => {
  await runParley(['workspace', 'create', '--name', 'Other'], env)
  const meta = newMeta(`1555310${String(simulator.control.numbers.list().length).padStart(4, '0')}`)
  const workspaces = JSON.parse((await runParley(['workspace', 'list', '--json'], env)).out) as {
    data: { id: string }[]
  }
  const words = [...meta.words, '--workspace', workspaces.data[0]?.id ?? '']
  const ended = await runParley(words, { ...env, ...meta.secrets, ...change(meta) })
  expect({ ...ended, err: withoutProgress(ended.err) }).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(message),
  })
  expect((await runParley(['app', 'list', '--json'], env)).out).not.toContain(meta.app.id)
})

test('app create asks before it replaces another callback, and not without a terminal', async () => {
  const service = await serveParley(env)
  const settings = { ...env, PUBLIC_URL: service.url }
  const { out } = await runParley(['workspace', 'create', '--name', 'Asked', '--json'], settings)
  const { id } = JSON.parse(out) as { id: string }
  const { app, wabaId, words, secrets } = newMeta('15553200001')
  const url = 'http://127.0.0.1:9/other'
  await simulator.control.apps.setCallback(app.id, { url, verify: false })
  const command = [...words, '--workspace', id]
  const callback = () => simulator.control.apps.list().find((each) => each.id === app.id)?.callbackUrl
  const refused = await runParley(command, { ...settings, ...secrets })
  expect(refused).toMatchObject({
    code: 1,
    out: expect.stringMatching(/conflict .*Nothing was changed\. .*--replace-callback\.\n$/s),
  })
  const reply = async (text: string) => {
    const asking = startCommand(command, { ...settings, ...secrets }, { isTerminal: true })
    await until('it asks', () => asking.err().includes('Replace it? [y/N]'))
    asking.type(`${text}\n`)
    return asking.ended
  }
  expect((await reply('n')).code).toBe(1)
  expect(callback()).toBe(url)
  expect(await reply('y')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/changed +webhook +callback http:\/\/127\.0\.0\.1:9/),
  })
  expect(callback()).toContain(`${service.url}/network/whatsapp/`)
  expect(await lastEntry()).toEqual([{ name: 'Shop app', callbacks: 'replaced', account: wabaId }])
})
