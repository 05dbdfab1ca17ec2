import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { bundleOf } from '../../scripts/prepare.mjs'
import { eraseDue } from '../../server/src/domain/privacy/erase.ts'
import { systemClock } from '../../server/src/lib/clock.ts'
import { newLogger } from '../../server/src/telemetry/logger.ts'
import { childEnv } from '../../server/testing/child-env.ts'
import { useForms } from '../../server/testing/forms.ts'
import { spawnParley } from '../../server/testing/parley.ts'
import { urlOf } from '../../server/testing/service.ts'
import { useTestServer } from '../../server/testing/test-server.ts'
import { until } from '../../server/testing/until.ts'
import { runParley } from '../testing/run-parley.ts'

/** The `person` commands, with the database of a running service. */
const server = useTestServer()
const forms = useForms(server)
const quiet = newLogger('silent')

let people = 0
const newPhone = () => String(16_505_592_000 + ++people)

const env = () => ({
  DATABASE_URL: urlOf(server.connection),
  PARLEY_SECRET_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
})

const run = (words: readonly string[], typed = '') => runParley(words, env(), typed)

/** A shop and a person who wrote to it, got a message and filled in a form with a file. */
async function newConversation() {
  const shop = await forms.newShop()
  const phone = newPhone()
  const { phones } = forms.sending.network.control
  const sent = await shop.sendText(phone, { text: { body: 'secret offer' } })
  await forms.sending.drain()
  await phones.say(phone, { to: shop.account.phoneNumber, text: 'secret question' })
  await shop.sendForm(phone)
  const bytes = Buffer.alloc(100_001, 'secret bytes ')
  const form = await shop.fillForm(phone, {
    values: { note: 'secret answer' },
    files: { photos: [{ base64: bytes.toString('base64'), filename: 'a.jpg', mimeType: 'image/jpeg' }] },
  })
  await forms.fetcher.drain()
  return { shop, phone, phones, sent, form, bytes, workspaceId: shop.workspace.id }
}

/** Adds messages that were sent to a person and read. */
const addMessages = (workspaceId: string, phone: string, count: number, textBytes = 10) =>
  server.db.change(
    `insert into messages (id, workspace_id, sender_id, recipient, status, wa_message_id, created_at, key_id, type, credits, content)
     select gen_random_uuid(), $1, s.id, $2, 'read', 'wamid.' || n, $4::timestamptz + n * interval '1 millisecond', k.id, 'text', 1,
       json_build_object('request', json_build_object('text', json_build_object('body', repeat('secret ', $5))))
     from generate_series(1, $3) as n, senders s, api_keys k where s.workspace_id = $1 and k.workspace_id = $1`,
    [workspaceId, phone, count, server.clock.now(), Math.ceil(textBytes / 7)],
  )

test('the export is one JSON document with everything about the person, and nothing about others', async () => {
  const { phone, phones, sent, form, bytes, shop, workspaceId } = await newConversation()
  const other = newPhone()
  await phones.say(other, { to: shop.account.phoneNumber, text: 'of another person' })
  const { code, out, err } = await run(['person', 'export', '--workspace', workspaceId, '--number', `+${phone}`])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const document = JSON.parse(out)
  const { userId } = forms.sending.network.control.phones.get(phone)
  expect(document).toMatchObject({
    object: 'person_export',
    account_id: workspaceId,
    numbers: [phone],
    user_ids: [userId],
    messages: [
      {
        id: sent.id,
        to: phone,
        status: 'read',
        content: { request: { text: { body: 'secret offer' } } },
        history: [{ status: 'sent' }, { status: 'delivered' }, { status: 'read' }],
      },
      { type: 'template' },
    ],
    inbound_messages: [
      { from: phone, content: { text: 'secret question' }, flow_response: null, order: null },
      {
        flow_response: { id: form.id, response: { note: 'secret answer' } },
      },
    ],
  })
  const typesOf = ({ events }: { events: { type: string }[] }) => events.map(({ type }) => type).sort()
  expect(typesOf(document.messages[0])).toEqual(['message.delivered', 'message.read', 'message.sent'])
  expect(typesOf(document.inbound_messages[1])).toEqual(['flow.completed', 'message.received'])
  const [file] = document.inbound_messages[1].flow_response.files
  expect(file).toMatchObject({ field: 'photos', file_name: 'a.jpg', state: { kind: 'fetched', size: bytes.length } })
  expect(Buffer.from(file.content, 'base64').equals(bytes)).toBe(true)
  expect(out).not.toContain(other)
  const [entry] = await server.db.rows(`select * from audit_entries where action = 'contact.export'`)
  expect(entry).toMatchObject({ workspace_id: workspaceId })
  expect(JSON.stringify(entry)).not.toContain(phone)
})

test('a person with many messages is exported within little memory', async () => {
  const { phone, workspaceId } = await newConversation()
  const [count, textBytes] = [1_000, 40_000]
  await addMessages(workspaceId, phone, count, textBytes)
  const words = ['person', 'export', '--workspace', workspaceId, '--number', phone]
  const args = ['--max-old-space-size=32', bundleOf(join(import.meta.dirname, '..', '..')), ...words]
  const child = spawn(process.execPath, args, { env: { ...childEnv, ...env() }, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let bytes = 0
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  expect(await once(child, 'close')).toEqual([0, null])
  expect(bytes).toBeGreaterThan(count * textBytes)
})

test('erasing asks for confirmation, says what was removed, and finds nothing the second time', async () => {
  const { phone, shop, sent, workspaceId } = await newConversation()
  const words = ['person', 'erase', '--workspace', workspaceId, '--number', phone]
  for (const typed of ['', 'yes\n']) {
    const refused = await run(words, typed)
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('Nothing was erased')])
  }
  expect((await shop.look(sent.id)).to).toBe(phone)
  const { code, out, err } = await run(words, `+${phone}\n`)
  expect([code, out, err]).toEqual([
    0,
    'Erased: 2 sent messages, 2 received messages, 1 form submission, 1 file, 9 events.\n',
    expect.stringContaining(`Type ${phone} to confirm`),
  ])
  expect((await shop.look(sent.id)).to).toBeNull()
  const again = await run([...words, '--yes'])
  expect([again.code, again.out]).toEqual([0, 'Test had nothing about this contact.\n'])
  const json = await run([...words, '--json'])
  expect(JSON.parse(json.out)).toMatchObject({ account_id: workspaceId, ended_at: expect.any(String), removed: {} })
})

test('an erasure whose process was killed is continued by the service', async () => {
  const { phone, workspaceId } = await newConversation()
  await addMessages(workspaceId, phone, 450)
  const removed = async () =>
    (
      await server.db.first<{ messages: number }>(
        `select coalesce((removed ->> 'messages')::int, 0) as messages from erasures where workspace_id = $1`,
        [workspaceId],
      )
    )?.messages
  const left = async () =>
    (await server.db.rows('select 1 from messages where workspace_id = $1 and recipient = $2', [workspaceId, phone]))
      .length
  // The last message is locked, so the process waits in its third step.
  const other = new pg.Client(server.connection)
  await other.connect()
  onTestFinished(() => other.end())
  await other.query(`begin; select set_config('parley.workspace', 'all', true)`)
  await other.query(
    'select 1 from messages where workspace_id = $1 order by created_at desc, id desc limit 1 for update',
    [workspaceId],
  )
  const words = ['person', 'erase', '--workspace', workspaceId, '--number', phone, '--yes']
  const { child, ended } = spawnParley(words, env())
  await until('two steps are done', async () => (await removed()) === 400)
  child.kill('SIGKILL')
  await ended
  await other.query('rollback')
  expect(await left()).toBe(52)
  await until('the locks of the killed process are gone', async () => {
    await eraseDue(server.db, systemClock, quiet)
    return (await left()) === 0
  })
  expect(await removed()).toBe(452)
  const [erasure] = await server.db.rows('select number, numbers, ended_at from erasures where workspace_id = $1', [
    workspaceId,
  ])
  expect(erasure).toMatchObject({ number: null, numbers: null, ended_at: expect.any(Date) })
})

test.each([
  [['--number', '12'], 'Invalid --number "12"'],
  [['--user-id', 'x'], 'Invalid --user-id "x"'],
  [[], 'Pass either --number or --user-id.'],
  [['--number', '491701234567', '--user-id', 'US.1'], 'Pass either --number or --user-id.'],
])('%j is refused', async (words, message) => {
  const { code, err } = await run(['person', 'erase', ...words, '--yes'])
  expect([code, err]).toEqual([1, expect.stringContaining(message)])
})
