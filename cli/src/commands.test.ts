import { randomBytes } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import { openDatabase } from '@parley/server/db/db'
import { publish } from '@parley/server/domain/deliveries/engine/publish/publish'
import { followLink } from '@parley/server/domain/people/links/links'
import { hashPassword } from '@parley/server/domain/people/passwords'
import { systemClock } from '@parley/server/lib/clock'
import { version } from '@parley/server/lib/version'
import { type Simulator, startSimulator } from '@parley/simulator/start'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDatabase } from '../../server/testing/database.ts'
import { urlOf } from '../../server/testing/service.ts'
import { runParley } from '../testing/run-parley.ts'
import { commands } from './commands.ts'

/** Runs every command once with --json against one installation, in the order an operator might use them. */
let simulator: Simulator
let env: Record<string, string>
let drop: () => Promise<void>
let publishOne: (workspaceId: string) => Promise<void>
let entries: () => Promise<{ action: string; actor: string; user_agent: string; before: unknown; after: unknown }[]>
let join: (link: string, email: string) => Promise<void>

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, dataset: 'demo' })
  const database = await newDatabase()
  const db = openDatabase(database.connection, () => {}, 2)
  publishOne = (workspaceId) => publish(db, new Date(), [{ workspaceId, type: 'message.received', data: {} }])
  entries = () => db.rows('select action, actor, user_agent, before, after from audit_entries order by at, id')
  join = async (link, email) => {
    const passwordHash = await hashPassword('seven quiet otters', { key: 'test', isKnown: false })
    const token = new URL(link).hash.slice(1)
    await db.transaction((tx) => followLink(tx, systemClock, token, { name: 'Bea', email, passwordHash }))
  }
  drop = async () => {
    await db.close()
    await database.drop()
    await simulator.stop()
  }
  env = {
    PORT: '0',
    DATABASE_URL: urlOf(database.connection),
    PARLEY_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    PARLEY_SIMULATOR_PORT: new URL(simulator.url).port,
    PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    PUBLIC_URL: 'https://parley.example',
    PARLEY_TRUST_PROXY: '127.0.0.1',
  }
})
afterAll(() => drop())

/** IDs that earlier commands printed; later commands refer to them as `<workspace>`. */
const ids: Record<string, string> = {}

interface Row {
  words: string
  /** The action of its audit entry. A command without one changes nothing. */
  audited?: string
  /** Expected members of the JSON output. */
  expected: unknown
  /** Stores a member of the JSON output in `ids`. */
  keep?: [as: string, member: string]
  code?: number
  before?: () => Promise<void>
}

const setSecond = (change: Parameters<Simulator['control']['numbers']['change']>[1]) =>
  void simulator.control.numbers.change('106540000000002', change)

const list = (...data: unknown[]) => ({
  object: 'list',
  data,
  total: data.length,
  total_is_exact: true,
  has_more: false,
  next_cursor: null,
})
const some = (member: object) => ({ object: 'list', data: expect.arrayContaining([expect.objectContaining(member)]) })

const rows: Row[] = [
  { words: 'migrate', expected: { applied: [] } },
  {
    words: 'workspace create --name Shop',
    audited: 'workspace.create',
    expected: { name: 'Shop', suspended_at: null },
    keep: ['workspace', 'id'],
  },
  { words: 'workspace list', expected: some({ name: 'Shop' }) },
  {
    words: 'workspace suspend <workspace> --reason unpaid',
    audited: 'workspace.suspend',
    expected: { suspended_reason: 'unpaid' },
  },
  {
    words: 'workspace resume <workspace>',
    audited: 'workspace.resume',
    expected: { suspended_reason: null, suspended_at: null },
  },
  {
    words: 'workspace limit <workspace> --webhooks 250',
    audited: 'workspace.limit',
    expected: { webhooks_max: 250 },
  },
  {
    words: 'workspace credit <workspace> 50 --note first',
    audited: 'workspace.credit',
    expected: { amount: 50, balance: 50 },
  },
  { words: 'price set image 2', audited: 'price.set', expected: { item: 'image', credits: 2 } },
  { words: 'price list', expected: some({ item: 'image', credits: 2 }) },
  {
    words:
      'key create --workspace <workspace> --name till --scope messages:send,messages:read --ip 10.0.0.0/8 --rate 5',
    audited: 'key.create',
    expected: {
      account_id: expect.any(String),
      scopes: ['messages:send', 'messages:read'],
      ip_allow_list: ['10.0.0.0/8'],
      rate_limit_per_min: 5,
      warnings: [],
      secret: expect.stringMatching(/^prl_live_/),
    },
    keep: ['key', 'id'],
  },
  {
    words: 'key change <key> --rate 9 --ip 0.0.0.0/0 --expires-at 2199-01-01T00:00:00Z',
    audited: 'key.change',
    expected: {
      name: 'till',
      scopes: ['messages:send', 'messages:read'],
      rate_limit_per_min: 9,
      expires_at: '2199-01-01T00:00:00.000Z',
      warnings: [expect.stringContaining('every IPv4 address')],
    },
  },
  {
    words: 'key change <key> --ip any --name desk',
    audited: 'key.change',
    expected: { name: 'desk', ip_allow_list: [], rate_limit_per_min: 9 },
  },
  { words: 'key list --workspace <workspace>', expected: some({ name: 'desk', revoked_at: null }) },
  {
    words: 'key rotate <key> --grace-hours 1',
    audited: 'key.rotate',
    expected: {
      name: 'desk',
      rate_limit_per_min: 9,
      old_key_ends_at: expect.any(String),
      secret: expect.stringMatching(/^prl_live_/),
    },
  },
  { words: 'key revoke <key>', audited: 'key.revoke', expected: { revoked_at: expect.any(String) } },
  {
    words: 'webhook create --workspace <workspace> --name crm --url https://127.0.0.1/a --event message.received',
    audited: 'webhook.create',
    expected: { enabled: true, secret: expect.stringMatching(/^whsec_/) },
    keep: ['webhook', 'id'],
  },
  {
    words: 'webhook change <webhook> --url https://127.0.0.1/b --event message.received --event message.failed',
    audited: 'webhook.change',
    expected: { name: 'crm', url: 'https://127.0.0.1/b', events: ['message.failed', 'message.received'] },
  },
  {
    words: 'webhook rotate <webhook>',
    audited: 'webhook.rotate',
    expected: { secret: expect.stringMatching(/^whsec_/) },
  },
  {
    words: 'webhook rotate <webhook> --staged',
    audited: 'webhook.stage_secret',
    expected: { secret: expect.stringMatching(/^whsec_/) },
  },
  {
    words: 'webhook activate <webhook>',
    audited: 'webhook.activate_secret',
    expected: { secret_hint: expect.stringMatching(/^whsec_/) },
  },
  {
    words: 'webhook rotate <webhook> --staged',
    audited: 'webhook.stage_secret',
    expected: { secret: expect.stringMatching(/^whsec_/) },
  },
  {
    words: 'webhook activate <webhook> --cancel',
    audited: 'webhook.cancel_rotation',
    expected: { secret_hint: expect.stringMatching(/^whsec_/) },
  },
  {
    words: 'webhook test <webhook> --event message.failed',
    audited: 'webhook.test',
    expected: { state: 'pending', webhook_id: expect.any(String) },
    keep: ['event', 'event_id'],
  },
  {
    words: 'delivery list --webhook <webhook>',
    expected: some({ event: 'webhook.test' }),
  },
  { words: 'delivery retry <event> --webhook <webhook>', audited: 'delivery.retry', expected: { state: 'pending' } },
  {
    words: 'delivery retry --webhook <webhook> --failed-since 2026-01-01T00:00:00Z',
    audited: 'webhook.recover',
    expected: { failed_since: '2026-01-01T00:00:00.000Z', retried: 0 },
  },
  {
    words: 'webhook replay <webhook> --since 2026-01-01T00:00:00Z --only all --event message.received --rate 5',
    audited: 'webhook.replay',
    expected: { webhook_id: expect.stringMatching(/^whk_/), state: 'running', total: 1, rate: 5 },
    keep: ['replay', 'id'],
    before: () => publishOne(ids.workspace ?? ''),
  },
  { words: 'replay list --webhook <webhook>', expected: some({ state: 'running', total: 1, delivered: 0, failed: 0 }) },
  { words: 'replay show <replay>', expected: { state: 'running', total: 1, rate: 5 } },
  { words: 'replay cancel <replay>', audited: 'webhook.cancel_replay', expected: { state: 'cancelled', total: 1 } },
  {
    words: 'webhook disable <webhook> --reason moving',
    audited: 'webhook.disable',
    expected: { enabled: false, disabled_reason: 'moving' },
  },
  {
    words: 'webhook list',
    expected: some({ disabled_reason: 'moving' }),
    before: () => publishOne(ids.workspace ?? ''),
  },
  {
    words: 'delivery list --state held',
    expected: some({ event: 'message.received', held_since: expect.any(String) }),
  },
  { words: 'webhook enable <webhook>', audited: 'webhook.enable', expected: { enabled: true, disabled_reason: null } },
  { words: 'webhook delete <webhook> --yes', audited: 'webhook.delete', expected: { deleted: true, dropped: 3 } },
  { words: 'webhook list --workspace <workspace>', expected: list() },
  {
    words: 'app create --name Demo --app-secret <secret> --verify-token v-1 --graph-url <simulator>',
    audited: 'app.create',
    expected: { callback_url: expect.stringContaining('https://parley.example/network/whatsapp/') },
    keep: ['app', 'id'],
  },
  { words: 'app change <app> --verify-token another', audited: 'app.change', expected: { name: 'Demo' } },
  { words: 'app list', expected: some({ name: 'Demo' }) },
  {
    words: 'connection create --workspace <workspace> --app <app> --waba-id 102290000000001 --access-token <token>',
    audited: 'connection.create',
    expected: { senders: 2, sync_error: null },
    keep: ['connection', 'id'],
  },
  {
    words: 'connection change <connection> --access-token <token>',
    audited: 'connection.change',
    expected: { senders: 2, sync_error: null },
  },
  { words: 'connection sync <connection>', audited: 'connection.sync', expected: { senders: 2 } },
  { words: 'connection list', expected: some({ waba_id: '102290000000001' }) },
  {
    words: 'sender list --workspace <workspace>',
    expected: some({ phone_number: '15550780001', throughput: 'BUSINESS_APP', has_pin: true }),
  },
  {
    words: 'sender register 15550780002 --workspace <workspace> --pin 314159',
    audited: 'sender.register',
    expected: { status: 'CONNECTED', has_pin: true },
  },
  {
    words: 'sender pin 15550780002 --workspace <workspace> --pin 271828',
    audited: 'sender.pin',
    expected: { has_pin: true },
  },
  {
    words: 'sender request-code 15550780002 --workspace <workspace>',
    before: async () => setSecond({ codeVerificationStatus: 'EXPIRED' }),
    audited: 'sender.request_code',
    expected: { verification_status: 'EXPIRED' },
  },
  {
    words: 'sender verify-code 15550780002 --workspace <workspace> --code 780-002',
    audited: 'sender.verify_code',
    expected: { verification_status: 'VERIFIED' },
  },
  {
    words: 'sender name 15550780002 --workspace <workspace> --name Harbour',
    audited: 'sender.name',
    expected: { requested_name: 'Harbour', requested_name_status: 'PENDING_REVIEW' },
  },
  {
    words:
      'sender profile 15550780002 --workspace <workspace> --about Open --category health --website https://a.example',
    audited: 'sender.profile',
    expected: { about: 'Open', category: 'HEALTH', websites: ['https://a.example'] },
  },
  { words: 'sender profile 15550780002 --workspace <workspace>', expected: { about: 'Open', address: '' } },
  {
    words:
      'template create --workspace <workspace> --name order_ready --language en --category utility --body Ready --wait',
    audited: 'template.create',
    expected: { name: 'order_ready', status: 'APPROVED', components: [{ type: 'BODY', text: 'Ready' }] },
    before: async () => void simulator.control.switches.set({ templateReviewMs: 10 }),
  },
  { words: 'template list --workspace <workspace>', expected: some({ name: 'order_ready', status: 'APPROVED' }) },
  { words: 'template show order_ready --workspace <workspace>', expected: { name: 'order_ready', language: 'en' } },
  {
    words: 'template edit order_ready --workspace <workspace> --footer Shop --wait',
    audited: 'template.edit',
    expected: {
      status: 'APPROVED',
      components: [
        { type: 'BODY', text: 'Ready' },
        { type: 'FOOTER', text: 'Shop' },
      ],
    },
  },
  {
    words: 'template delete order_ready --workspace <workspace> --yes',
    audited: 'template.delete',
    expected: { deleted: true },
  },
  {
    words: 'sender deregister 15550780002 --workspace <workspace> --yes',
    audited: 'sender.deregister',
    expected: { status: 'DISCONNECTED' },
  },
  {
    words: 'user create --email bea@example.com --workspace <workspace> --role admin',
    audited: 'invite.create',
    expected: { role: 'admin' },
  },
  { words: 'user operator', audited: 'person.operator_link', expected: { operator: true }, keep: ['link', 'url'] },
  {
    words: 'user list',
    expected: some({ email: 'bea@example.com' }),
    before: () => join(ids.link ?? '', 'bea@example.com'),
  },
  { words: 'user operator --email bea@example.com', audited: 'person.operator', expected: { operator: true } },
  { words: 'user reset --email bea@example.com', audited: 'person.reset_link', expected: { second_factor_off: false } },
  { words: 'user passkeys --email bea@example.com', expected: list() },
  {
    words: 'user create --email cem@example.com --workspace <workspace> --role member',
    audited: 'invite.create',
    expected: { role: 'member' },
    keep: ['invitation', 'url'],
  },
  {
    words: 'user disable cem@example.com',
    before: () => join(ids.invitation ?? '', 'cem@example.com'),
    audited: 'person.disable',
    expected: { state: 'disabled' },
  },
  { words: 'user enable cem@example.com', audited: 'person.enable', expected: { state: 'active' } },
  {
    words: 'phone send --from 491701234567 --to 15550780001 --text hi',
    expected: { type: 'text', wa_message_id: expect.any(String) },
  },
  {
    words: 'send --workspace <workspace> --to 16505550123 --from 15550780001 --text hi',
    audited: 'message.send',
    expected: { object: 'message', status: 'queued', to: '16505550123' },
  },
  { words: 'events --workspace <workspace>', expected: { object: 'list', has_more: false } },
  { words: 'logs --workspace <workspace>', expected: { object: 'list', data: [], has_more: false } },
  { words: 'trigger', expected: some({ type: 'message.received', how: 'simulator' }) },
  { words: 'completion bash', expected: { shell: 'bash', script: expect.stringContaining('complete -o default') } },
  {
    words: 'person export --workspace <workspace> --number +491701234567',
    audited: 'contact.export',
    expected: { object: 'person_export', numbers: ['491701234567'], user_ids: [], messages: [], inbound_messages: [] },
  },
  {
    words: 'person erase --workspace <workspace> --user-id US.13491200000000000001',
    audited: 'contact.erase',
    expected: { ended_at: expect.any(String), removed: { events: 0 } },
  },
  {
    words: 'secrets reseal',
    expected: { object: 'reseal', key_id: 'k1', resealed: 0, unreadable: 0, keys_no_longer_needed: [] },
  },
  {
    words: 'files status',
    expected: { object: 'files', database: { files: 0, bytes: 0 }, s3: { files: 0, bytes: 0 }, waiting: 0 },
  },
  { words: 'update list', expected: { object: 'list', data: [] } },
  { words: 'update reread --field calls', expected: { read: 0, understood: 0, failed: [] } },
  { words: 'doctor --offline', expected: { object: 'doctor', checks: expect.any(Array) } },
]

test.each(rows)('$words', async ({ words, expected, keep, code = 0, before, audited }) => {
  await before?.()
  const first = await entries()
  ids.simulator = simulator.url
  ids.secret = simulator.control.apps.list()[0]?.secret ?? ''
  ids.token = simulator.control.tokens.list()[0]?.token ?? ''
  const typed = words.split(' ').map((word) => word.replace(/^<(.*)>$/, (_, name: string) => ids[name] ?? word))
  const { code: ended, out, err } = await runParley([...typed, '--json'], env)
  // A step that takes more than two seconds prints a line, which a busy machine makes likely.
  expect({ ended, err: err.replaceAll('Connecting to WhatsApp…\n', '') }).toEqual({ ended: code, err: '' })
  const json = JSON.parse(out) as Record<string, string>
  expect(json).toMatchObject(expected as object)
  if (keep) ids[keep[0]] = json[keep[1]] ?? ''
  const written = (await entries()).slice(first.length)
  expect(written.map(({ action }) => action)).toEqual(audited ? [audited] : [])
  const secrets = [
    json.secret,
    'demo-app-secret',
    'demo-verify-token',
    'demo-access-token',
    'another',
    '314159',
    '271828',
  ]
  for (const { actor, user_agent, before: was, after } of written) {
    expect(actor).toBe(`command line (${userInfo().username})`)
    expect(user_agent).toBe(`parley/${version} (${hostname()})`)
    for (const secret of secrets) if (secret) expect(JSON.stringify([was, after])).not.toContain(secret)
  }
})

/** These have their own tests, as the `phone` commands do: they run until they are stopped, write a file, or need a file store or data. */
const testedElsewhere = ['start', 'listen', 'login', 'mcp', 'files move', 'types', 'update show', 'why']

test('every command is in the table above or tested elsewhere', () => {
  const covered = commands.filter(({ name }) => rows.some(({ words }) => `${words} `.startsWith(`${name} `)))
  const uncovered = commands.filter((command) => !covered.includes(command)).map(({ name }) => name)
  expect(uncovered.filter((name) => !testedElsewhere.includes(name) && !/^phone /.test(name))).toEqual([])
})

test('webhook delete requires --yes if undelivered events would be dropped', async () => {
  const run = (words: string[]) => runParley(words, env)
  const words = ['webhook', 'create', '--workspace', ids.workspace ?? '', '--name', 'a', '--url', 'https://127.0.0.1/']
  const { id } = JSON.parse((await run([...words, '--event', 'message.received', '--json'])).out) as { id: string }
  await publishOne(ids.workspace ?? '')
  expect(await run(['webhook', 'delete', id])).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(/^1 undelivered event for .* --yes\.\n$/),
  })
  expect((await run(['delivery', 'list', '--webhook', id])).out).toContain('message.received')
  expect((await run(['delivery', 'retry', '--webhook', id])).err).toContain('EVENT_ID or --failed-since')
})

test('key change does not change the expiry of a revoked key', async () => {
  const words = ['key', 'change', ids.key ?? '', '--expires-at', '2199-02-01T00:00:00Z']
  expect(await runParley(words, env)).toEqual({
    code: 1,
    out: '',
    err: 'This key was revoked, so its expiry cannot be changed. Create a new key.\n',
  })
})

test('workspace credit adds and removes credits, and says the new balance', async () => {
  const run = (...words: string[]) => runParley(['workspace', 'credit', ...words], env)
  const { id } = JSON.parse((await runParley(['workspace', 'create', '--name', 'Till', '--json'], env)).out)
  const added = await run(id, '500', '--note', 'invoice 7', '--json')
  expect(JSON.parse(added.out)).toEqual({ workspace_id: id, amount: 500, balance: 500 })
  const removed = await run('--note', 'mistake', '--', id, '-200')
  expect(removed).toMatchObject({ code: 0, out: 'Removed 200 credits. New balance: 300.\n' })
  expect(await run(id, 'many', '--note', 'x')).toMatchObject({ code: 1, out: '' })
})
