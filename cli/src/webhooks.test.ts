import { createHmac, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../server/src/db/db.ts'
import { systemClock } from '../../server/src/lib/clock.ts'
import { newDatabase } from '../../server/testing/database.ts'
import { newApp, newSender } from '../../server/testing/network-app.ts'
import { urlOf } from '../../server/testing/service.ts'
import { until } from '../../server/testing/until.ts'
import { runParley, startCommand } from '../testing/run-parley.ts'

/** The `webhook`, `replay`, `delivery` and `listen` commands. */
let env: Record<string, string>
let database: Awaited<ReturnType<typeof newDatabase>>

beforeAll(async () => {
  database = await newDatabase()
  env = {
    DATABASE_URL: urlOf(database.connection),
    PARLEY_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  }
})
afterAll(() => database.drop())

const run = (words: string[]) => runParley(words, env)

async function json<T>(words: string[]): Promise<T> {
  const { code, out, err } = await run([...words, '--json'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out) as T
}

interface WebhookJson {
  id: string
  secret: string
  secret_hint: string
}

const create = (workspace: string, url: string) =>
  ['webhook', 'create', '--workspace', workspace, '--name', 'Shop', '--url', url].concat('--event', 'message.received')

test('a webhook can be created, rotated, disabled and enabled; only create and rotate print the secret', async () => {
  const workspace = await json<{ id: string }>(['workspace', 'create', '--name', 'Shop'])
  const created = await json<WebhookJson>(create(workspace.id, 'https://127.0.0.1/hook'))
  expect(created).toEqual({
    id: expect.stringMatching(/^whk_/),
    object: 'webhook',
    name: 'Shop',
    url: 'https://127.0.0.1/hook',
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    secret_hint: `${created.secret.slice(0, 10)}...${created.secret.slice(-4)}`,
    events: ['message.received'],
    senders: null,
    ordering: 'none',
    headers: [],
    enabled: true,
    disabled_reason: null,
    last_success_at: null,
  })
  const rotated = await json<WebhookJson>(['webhook', 'rotate', created.id])
  expect(rotated.secret).not.toBe(created.secret)
  expect(rotated.secret_hint).toBe(`${rotated.secret.slice(0, 10)}...${rotated.secret.slice(-4)}`)
  expect(await json(['webhook', 'disable', created.id, '--reason', 'moving'])).toMatchObject({
    enabled: false,
    disabled_reason: 'moving',
  })
  const listed = await run(['webhook', 'list', '--workspace', workspace.id])
  expect(listed.out).toContain('moving')
  expect(listed.out).not.toContain(rotated.secret)
  expect(await json(['webhook', 'enable', created.id])).toMatchObject({ enabled: true, disabled_reason: null })
  expect(await json(['delivery', 'list', '--webhook', created.id])).toMatchObject({ data: [] })
})

test('webhook replay prints its ID and how many events it covers; show, list and cancel print the replay', async () => {
  const workspace = await json<{ id: string }>(['workspace', 'create', '--name', 'Shop'])
  const { id } = await json<WebhookJson>(create(workspace.id, 'https://127.0.0.1/hook'))
  const since = ['--since', '2026-11-01T00:00:00Z']
  const replay = await json<{ id: string }>(['webhook', 'replay', id, ...since])
  expect(replay).toEqual({
    id: expect.stringMatching(/^rpl_/),
    webhook_id: id,
    state: 'running',
    total: 0,
    delivered: 0,
    failed: 0,
    rate: 50,
    created_at: expect.any(String),
  })
  const printed = await run(['webhook', 'replay', id, ...since, '--only', 'all', '--rate', '200'])
  expect(printed.out).toMatch(/^Started replay rpl_\S+\. It covers 0 events, at most 200 per second\./)
  expect(await json(['replay', 'show', replay.id])).toEqual(replay)
  expect((await run(['replay', 'show', replay.id])).out).toContain('Rate       at most 50 per second')
  expect(await json(['replay', 'list', '--webhook', id])).toMatchObject({ total: 2, data: [{ rate: 200 }, replay] })
  expect(await json(['replay', 'cancel', replay.id])).toEqual({ ...replay, state: 'cancelled' })
  const cases: [string[], RegExp][] = [
    [['webhook', 'replay', id], /--since/],
    [['webhook', 'replay', id, '--since', 'monday'], /Invalid --since/],
    [['webhook', 'replay', id, ...since, '--only', 'some'], /failed, missing, all/],
    [['webhook', 'replay', id, ...since, '--rate', 'fast'], /Invalid --rate/],
    [['webhook', 'replay', id, ...since, '--rate', '5000'], /from 1 to 1000/],
    [['webhook', 'replay', id, ...since, '--event', 'message.sent'], /does not subscribe/],
    [['webhook', 'replay', id, ...since, '--sender', 'whk_1'], /snd_/],
    [['replay', 'cancel', replay.id], /already ended/],
    [['replay', 'show', 'rpl_nonsense'], /./],
  ]
  for (const [words, reason] of cases) {
    const { code, err } = await run(words)
    expect(code, words.join(' ')).toBe(1)
    expect(err).toMatch(reason)
  }
})

test('a webhook can have a filter by sender, headers and an order; values of headers are never printed', async () => {
  const workspace = await json<{ id: string }>(['workspace', 'create', '--name', 'Shop'])
  const db = openDatabase(database.connection, () => {}, 1)
  const target = { url: '', db, clock: systemClock, secretKeys: new Map([['k1', randomBytes(32)]]) }
  const app = await newApp(target)
  const [first, second] = [
    await newSender(target, workspace.id, app.id, '79000000001'),
    await newSender(target, workspace.id, app.id, '79000000002'),
  ].map(({ id }) => `snd_${id}`) as [string, string]
  await db.close()
  const created = await json<WebhookJson>([
    ...create(workspace.id, 'https://127.0.0.1/hook'),
    ...['--sender', first, '--ordering', 'conversation'],
    ...['--header', 'Authorization: Bearer secret-one', '--header', 'X-Team: blue'],
  ])
  expect(created).toMatchObject({ senders: [first], ordering: 'conversation', headers: ['authorization', 'x-team'] })
  const changed = await run([
    ...['webhook', 'change', created.id, '--json', '--sender', `${first},${second}`, '--ordering', 'none'],
    ...['--header', 'X-Team:', '--header', 'X-Other: secret-two'],
  ])
  expect(changed.code).toBe(0)
  expect(JSON.parse(changed.out)).toMatchObject({
    senders: [first, second],
    ordering: 'none',
    headers: ['authorization', 'x-other'],
  })
  expect(await json(['webhook', 'change', created.id, '--sender', 'all'])).toMatchObject({
    senders: null,
    headers: ['authorization', 'x-other'],
  })
  const listed = await run(['webhook', 'list', '--json'])
  expect(changed.out + listed.out + JSON.stringify(created)).not.toContain('secret-')
  const wrong: [string[], RegExp][] = [
    [['--header', 'secret-three'], /"Name: value"/],
    [['--header', 'Host: secret-four'], /"host" cannot be set/],
    [['--ordering', 'sometimes'], /none, conversation/],
    [['--sender', 'snd_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d'], /No sender of this workspace/],
    [['--sender', 'me'], /snd_/],
  ]
  for (const [words, reason] of wrong) {
    const { code, err } = await run(['webhook', 'change', created.id, ...words])
    expect(code, words.join(' ')).toBe(1)
    expect(err).toMatch(reason)
    expect(err).not.toContain('secret-')
  }
})

test('an empty --event or --sender is refused, and does not mean all', async () => {
  const { id: workspace } = await json<{ id: string }>(['workspace', 'create', '--name', 'Empty'])
  const words = create(workspace, 'https://127.0.0.1/hook')
  const { id } = await json<WebhookJson>(words)
  const replay = ['webhook', 'replay', id, '--since', '2026-01-01T00:00:00Z']
  for (const [option, refused] of [
    ['sender', [...words, '--sender', '']],
    ['sender', ['webhook', 'change', id, '--name', 'Other', '--sender', '']],
    ['event', ['webhook', 'change', id, '--name', 'Other', '--event', '']],
    ['sender', [...replay, '--sender', '']],
    ['event', [...replay, '--event', ',']],
    ['event', ['events', '--workspace', workspace, '--event', '']],
  ] as const) {
    const { code, out, err } = await run([...refused])
    expect({ code, out }, refused.join(' ')).toEqual({ code: 1, out: '' })
    expect(err).toMatch(new RegExp(`^--${option} is empty\\.`))
  }
  const listed = await json<{ data: { name: string }[] }>(['webhook', 'list', '--workspace', workspace])
  expect(listed.data.map(({ name }) => name)).toEqual(['Shop'])
})

test('an invalid URL, ID or state is rejected with a reason', async () => {
  const workspace = await json<{ id: string }>(['workspace', 'create', '--name', 'Shop'])
  const cases: [string[], RegExp][] = [
    [create(workspace.id, 'http://127.0.0.1/'), /starts with https:\/\//],
    [create(workspace.id, 'https://169.254.169.254/'), /cannot be sent to this address/],
    [create(workspace.id, 'https://me:secret@127.0.0.1/'), /user name or password/],
    [['webhook', 'rotate', 'whk_nonsense'], /./],
    [['delivery', 'list', '--state', 'lost'], /pending, retrying, held, delivered, failed/],
    [['delivery', 'retry', 'nonsense', '--webhook', 'whk_nonsense'], /./],
  ]
  for (const [words, reason] of cases) {
    const { code, err } = await run(words)
    expect(code, words.join(' ')).toBe(1)
    expect(err).toMatch(reason)
  }
})

test('listen refuses an empty or broken secret; an empty variable is as none', async () => {
  const listen = (more: string[], secret: string) =>
    startCommand(['listen', '--port', '0', ...more], { ...env, PARLEY_WEBHOOK_SECRET: secret })
  const cases: [string[], string, RegExp][] = [
    [['--secret', ''], '', /^The signing secret is missing/],
    [['--secret', 'whsec_a b'], '', /^The signing secret contains a space/],
    [[], 'whsec_a\n', /^The signing secret contains a space/],
  ]
  for (const [more, secret, reason] of cases) {
    const refused = listen(more, secret)
    await until('it ends or listens', () => refused.hasEnded() || refused.out() !== '')
    expect(refused.hasEnded(), refused.out()).toBe(true)
    expect(await refused.ended).toMatchObject({ code: 1, out: '', err: expect.stringMatching(reason) })
  }
  const listening = listen([], '')
  await until('it listens', () => listening.out().includes('Signatures are not verified.'))
  const url = /http:\S+/.exec(listening.out())?.[0] ?? ''
  expect((await fetch(url, { method: 'POST', body: '{"id":"e1"}' })).status).toBe(200)
  await until('it is printed', () => listening.out().includes('not verified\n{\n  "id": "e1"'))
})

test('listen verifies and prints each delivery', async () => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const listening = startCommand(['listen', '--port', '0', '--secret', secret, '--json'], env)
  const url = await until('listen prints its URL', () => /http:\S+/.exec(listening.err())?.[0])
  const body = JSON.stringify({ id: 'e1', type: 'message.received', created_at: 'now', data: {} })
  const post = async (signedWith: string) => {
    const seconds = Math.floor(Date.now() / 1000)
    const signature = createHmac('sha256', signedWith).update(`${seconds}.${body}`).digest('hex')
    const headers = { 'service-signature': `t=${seconds},v1=${signature}` }
    return (await fetch(url, { method: 'POST', headers, body })).status
  }
  expect(await post(secret)).toBe(200)
  expect(await post('whsec_other')).toBe(400)
  const lines = await until('both deliveries are printed', () => {
    const printed = listening.out().trim().split('\n')
    return printed.length === 2 && printed.map((line) => JSON.parse(line))
  })
  expect(lines).toMatchObject([
    { verified: true, event: { id: 'e1' } },
    { verified: false, why: expect.stringContaining('signature') },
  ])
  listening.kill()
  expect((await listening.ended).code).toBe(0)
})
