import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifyWebhook } from '@parley/sdk/verify'
import { publish } from '@parley/server/domain/deliveries/engine/publish/publish'
import { checkInput } from '@parley/server/domain/webhooks/check-input'
import { saveNewWebhook } from '@parley/server/domain/webhooks/webhooks'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { untilReadable } from '../../server/testing/open-transaction.ts'
import { startReceiver } from '../../server/testing/receiver.ts'
import { type TestShop, useSending } from '../../server/testing/sending.ts'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { useTestServer } from '../../server/testing/test-server.ts'
import { until } from '../../server/testing/until.ts'
import { newWorkspace } from '../../server/testing/workspace.ts'
import { freePort } from '../../testing/src/free-port.ts'
import { runParley, startCommand } from '../testing/run-parley.ts'

/** Commands with a URL and an API key, on a machine without a database. */
const server = useTestServer()
const sending = useSending(server)
let shop: TestShop
let key: string

beforeAll(async () => {
  shop = await sending.newShop()
  key = shop.workspace.secret
})

/** A machine with nothing. If a command opened a database, the folder would have one. */
function newMachine() {
  const home = tempFolder()
  const env = { HOME: home, PARLEY_DATA_DIR: join(home, 'data') }
  onTestFinished(() => expect(existsSync(env.PARLEY_DATA_DIR)).toBe(false))
  const run = (words: readonly string[], more: Record<string, string> = {}) => runParley(words, { ...env, ...more })
  return {
    home,
    env,
    run,
    file: join(home, '.config', 'parley', 'login.json'),
    login: () => run(['login', '--url', server.url, '--key', key]),
    async json(words: readonly string[], more?: Record<string, string>) {
      const { code, out, err } = await run([...words, '--json'], more)
      expect({ code, err }).toEqual({ code: 0, err: '' })
      return JSON.parse(out)
    },
    async errorOf(words: readonly string[], more?: Record<string, string>) {
      const { code, out, err } = await run(words, more)
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).not.toContain('    at ')
      return err
    },
  }
}

const publishOne = (
  workspaceId: string,
  text: string,
  type: 'message.received' | 'message.sent' = 'message.received',
) => server.db.transaction((tx) => publish(tx, server.clock.now(), [{ workspaceId, type, data: { text } }]))

test('login checks the key and stores it for its owner only; --remove deletes it', async () => {
  const { run, file, login, json, errorOf } = newMachine()
  const { out, code } = await login()
  expect(code).toBe(0)
  expect(out).toMatch(
    /^Logged in to http:\S+ with API key test key, which has the scopes .*messages:send.*\.\nStored in /,
  )
  expect(out).not.toContain(key)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ url: server.url, key })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700)
  // A file that others could read becomes private.
  chmodSync(file, 0o644)
  const again = { PARLEY_URL: `${server.url}/`, PARLEY_API_KEY: key }
  expect(await json(['login'], again)).toMatchObject({ url: server.url, file, account_id: shop.workspace.id })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  // A key that does not work is not stored.
  const wrong = `prl_live_${'x'.repeat(38)}`
  expect(await errorOf(['login', '--url', server.url, '--key', wrong])).toMatch(/^Invalid API key.*\n$/)
  expect(JSON.parse(readFileSync(file, 'utf8')).key).toBe(key)
  expect((await run(['login', '--remove'])).out).toBe(`Removed the key for ${server.url} from ${file}.\n`)
  expect(existsSync(file)).toBe(false)
  expect((await run(['login', '--remove'])).out).toBe('Nothing was stored.\n')
})

test('login keeps to XDG_CONFIG_HOME, and reads the key from standard input', async () => {
  const { env, home } = newMachine()
  const folder = join(home, 'settings')
  const command = startCommand(['login', '--url', server.url, '--key', '-'], { ...env, XDG_CONFIG_HOME: folder })
  command.type(`${key}\n`)
  command.endInput()
  expect(await command.ended).toMatchObject({ code: 0, err: '' })
  expect(JSON.parse(readFileSync(join(folder, 'parley', 'login.json'), 'utf8'))).toEqual({ url: server.url, key })
})

test('without HOME, as on Windows, login keeps to USERPROFILE', async () => {
  const { home, file } = newMachine()
  const env = { USERPROFILE: home, PARLEY_DATA_DIR: join(home, 'data') }
  expect(await runParley(['login', '--url', server.url, '--key', key], env)).toMatchObject({ code: 0, err: '' })
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ url: server.url, key })
})

test('errors are one line that says what is wrong', async () => {
  const { run, errorOf, login, file } = newMachine()
  const port = await freePort()
  const down = `http://127.0.0.1:${port}`
  const events = ['events', '--url', server.url]
  expect(await errorOf(['login', '--url', down, '--key', key])).toBe(
    `${down} cannot be reached: ECONNREFUSED. Check that the URL is correct and that Parley is running.\n`,
  )
  expect(await errorOf(['login', '--url', 'parley', '--key', key])).toMatch(/^Invalid URL or API key: .*https:\/\//)
  expect(await errorOf(['login', '--key', key])).toMatch(/^Missing --url\./)
  expect(await errorOf(['login', '--remove', '--key', key])).toMatch(/^--remove takes no --url and no --key\./)
  expect(await errorOf(events)).toMatch(/^PARLEY_API_KEY is not set\. Pass --key too/)
  expect(await errorOf(['events', '--key', key])).toMatch(/^PARLEY_URL is not set\. Pass --url too/)
  expect(await errorOf([...events, '--key', 'whsec_x'])).toMatch(/signing secret of a webhook/)
  expect(await errorOf(['send', '--url', server.url, '--key', 'typo', '--to', '1', '--text', 'a'])).toMatch(
    /^Invalid API key/,
  )
  expect(await errorOf([...events, '--key', key, '--after', 'nonsense'])).toMatch(/cursor/i)
  const { secret } = await shop.workspace.newKey({ scopes: ['senders:read', 'messages:send'] })
  expect(await errorOf([...events, '--key', secret])).toBe(
    "This key lacks the scope 'events:read'. An operator adds it with: ./parley key change ID --scope senders:read,messages:send,events:read\n",
  )
  const { err } = await run([...events, '--key', secret, '--json'])
  expect(JSON.parse(err)).toMatchObject({ error: { type: 'permission_error', code: 'insufficient_scope' } })
  const send = [
    'send',
    '--url',
    server.url,
    '--key',
    secret,
    '--to',
    '491701234567',
    '--from',
    shop.senderId,
    '--text',
    'a',
  ]
  expect(await errorOf([...send, '--wait'])).toMatch(
    /^Nothing was sent: --wait needs the scope 'messages:read'\. An operator adds it with: \.\/parley key change \S+ --scope senders:read,messages:send,messages:read\n$/,
  )
  // A stored key is for its own service only.
  await login()
  expect(await errorOf(['events', '--url', down])).toMatch(/^PARLEY_API_KEY is not set/)
  writeFileSync(file, '{}')
  expect(await errorOf(['events'])).toBe(`${file} has no valid login. Run "./parley login" again.\n`)
  expect(await errorOf(['login', '--url', server.url, '--key', key], { XDG_CONFIG_HOME: file })).toMatch(
    /login\.json cannot be written: ENOTDIR\.\n$/,
  )
})

test('send sends once for each idempotency key, and waits for the status', async () => {
  const { env, json, run, login, errorOf } = newMachine()
  await login()
  const text = ['send', '--to', '+49 170 1234567', '--from', shop.senderId, '--text', 'Hello']
  const once = [...text, '--idempotency-key', 'order-1', '--reference', 'order 1']
  const first = await json(once)
  expect(first).toMatchObject({ object: 'message', status: 'queued', reference: 'order 1' })
  expect((await run(once)).out).toBe(
    `Message ${first.id} was sent with this idempotency key before. Nothing was sent now.\n`,
  )
  expect((await run(text)).out).toMatch(/^Accepted message msg_\S+ to \S*491701234567 for 1 credit\.\n$/)
  const waiting = startCommand([...text, '--wait'], env)
  const ended = await until('it was delivered', async () => {
    await sending.drain()
    return waiting.hasEnded() && waiting.ended
  })
  expect(ended.out).toMatch(/\nStatus: (delivered|read)\.\n$/)
  expect(
    await json(['send', '--to', '491701234567', '--from', shop.senderId, '--template', 'greeting', '--var', '1=Ana']),
  ).toMatchObject({
    type: 'template',
  })
  expect(await errorOf(['send', '--to', '491701234567', '--template', 'fly'])).toMatch(/^Template "fly" not found/)
  expect(await errorOf(['send', '--text', 'a'])).toMatch(/^Missing option: --to NUMBER\./)
})

test('options come before variables, and variables before the login', async () => {
  const { json, login, errorOf } = newMachine()
  const other = await newWorkspace(server)
  await publishOne(other.id, 'other')
  await publishOne(shop.workspace.id, 'ours')
  const textsOf = ({ data }: { data: { data: { text: string } }[] }) => data.map((event) => event.data.text)
  const variables = { PARLEY_URL: server.url, PARLEY_API_KEY: other.secret }
  await login()
  await untilReadable(server.db)
  expect(textsOf(await json(['events', '--event', 'message.received']))).toEqual(['ours'])
  expect(textsOf(await json(['events', '--event', 'message.received'], variables))).toEqual(['other'])
  expect(textsOf(await json(['events', '--event', 'message.received', '--key', key], variables))).toEqual(['ours'])
  const { PARLEY_API_KEY } = variables
  expect(textsOf(await json(['events', '--event', 'message.received'], { PARLEY_API_KEY }))).toEqual(['other'])
  expect(textsOf(await json(['events', '--event', 'message.received'], { PARLEY_URL: server.url }))).toEqual(['ours'])
  // The stored key is for another service.
  const staging = { PARLEY_URL: 'http://staging.example' }
  expect(await errorOf(['send', '--to', '1', '--text', 'a'], staging)).toMatch(/^PARLEY_API_KEY is not set\./)
})

test('events continues at a cursor, and prints new events as they happen', async () => {
  const { env, json, run } = newMachine()
  const { id, secret } = await newWorkspace(server)
  const words = ['events', '--url', server.url]
  const variables = { PARLEY_API_KEY: secret }
  for (const text of ['one', 'two']) await publishOne(id, text)
  await untilReadable(server.db)
  const { next_cursor } = await json([...words, '--limit', '1'], variables)
  expect(await json([...words, '--after', next_cursor], variables)).toMatchObject({ data: [{ data: { text: 'two' } }] })
  expect((await run([...words, '--limit', '1'], variables)).out).toContain(
    `More: ./parley events --url ${server.url} --limit 1 --after ${next_cursor}\n`,
  )
  const following = startCommand([...words, '--follow', '--json'], { ...env, ...variables })
  await until('it follows', () => following.err().includes('Press Ctrl+C'))
  expect(following.err()).toContain(`Events of the workspace of API key test key at ${server.url}.`)
  await publishOne(id, 'three')
  await until('it is printed', () => following.out().includes('three'))
  expect(following.out()).not.toContain('two')
  following.kill('SIGINT')
  expect((await following.ended).code).toBe(0)
  expect(following.err()).toMatch(/To continue: \.\/parley events --follow --url \S+ --after \S+\n$/)
})

test('listen forwards new events, signed with a secret that it prints', async () => {
  const { env } = newMachine()
  const { id, secret: apiKey } = await newWorkspace(server)
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const start = () =>
    startCommand(['listen', '--forward-to', receiver.url, '--event', 'message.received'], {
      ...env,
      PARLEY_URL: server.url,
      PARLEY_API_KEY: apiKey,
    })
  const secretOf = (command: { out(): string }) =>
    until('it prints its secret', () => command.out().includes('Press r') && /: (whsec_\S+)/.exec(command.out())?.[1])
  const listening = start()
  const secret = await secretOf(listening)
  await publishOne(id, 'not forwarded', 'message.sent')
  await publishOne(id, 'Grüße')
  await until('it arrives', () => receiver.received.length === 1)
  const [first] = receiver.received
  await expect(verifyWebhook(first?.body ?? '', first?.headers ?? {}, secret)).resolves.toMatchObject({
    type: 'message.received',
    data: { text: 'Grüße' },
  })
  listening.type('q')
  expect(await listening.ended).toMatchObject({ code: 0, err: '' })
  // The same at every start.
  expect(await secretOf(start())).toBe(secret)
})

test('webhook list and types show what the database has', async () => {
  const { json, run } = newMachine()
  const variables = { PARLEY_URL: server.url, PARLEY_API_KEY: key }
  const { id } = shop.workspace
  const input = { name: 'CRM', url: 'https://127.0.0.1/hook', events: ['message.received'], headers: [] }
  const checked = await checkInput(server.runtime.config.targetRules, input, id)
  const { webhook } = await saveNewWebhook(server.db, server.clock, server.secretKeys, id, checked)
  expect((await json(['webhook', 'list'], variables)).data).toMatchObject([{ id: webhook.id, account_id: id }])
  expect((await run(['types', '--out', '-'], variables)).out).toContain('"greeting": {')
})

test('what a key cannot do names the command of an operator', async () => {
  const { json, errorOf } = newMachine()
  const variables = { PARLEY_URL: server.url, PARLEY_API_KEY: key }
  const { id } = shop.workspace
  expect(await errorOf(['logs', '--follow', '--status', '4xx', '--path', "Ana's a"], variables)).toBe(
    `An API key cannot read the request log. An operator runs this on the server: ./parley logs --follow --status 4xx --path 'Ana'\\''s a' --workspace ${id}\n`,
  )
  expect(await errorOf(['logs', '--url', server.url, '--key', key])).toMatch(/^An API key cannot read the request log/)
  expect(await errorOf(['trigger', 'message.received'], variables)).toBe(
    `An API key cannot make message.received happen. An operator runs this on the server: ./parley trigger message.received --workspace ${id}\n`,
  )
  const { data } = await json(['trigger'], variables)
  expect(data).toContainEqual({ type: 'message.failed', how: 'simulator' })
  expect(data).toContainEqual({ type: 'message.received', how: 'operator' })
})
