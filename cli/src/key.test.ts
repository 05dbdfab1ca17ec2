import type { Message } from '@parley/contract/message'
import { expect, test } from 'vitest'
import { signedIn } from '../../server/testing/console.ts'
import { useSending } from '../../server/testing/sending.ts'
import { urlOf } from '../../server/testing/service.ts'
import { useTestServer } from '../../server/testing/test-server.ts'
import { newWorkspace } from '../../server/testing/workspace.ts'
import { runParley } from '../testing/run-parley.ts'

/** The `key` commands and `--workspace`, against the database of a running service. */
const server = useTestServer()
const sending = useSending(server)

const parley = (...words: string[]) =>
  runParley(words, {
    PORT: '0',
    DATABASE_URL: urlOf(server.connection),
    PARLEY_SECRET_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
  })

async function json(...words: string[]) {
  const { code, out, err } = await parley(...words, '--json')
  expect([code, err]).toEqual([0, ''])
  return JSON.parse(out)
}

const rotations = (workspaceId: string) =>
  server.db.rows<{ actor: string; target: string; target_name: string; after: Record<string, unknown> }>(
    `select actor, target, target_name, after from audit_entries
     where workspace_id = $1 and action = 'key.rotate' order by actor`,
    [workspaceId],
  )

test('--workspace may be left out while there is one workspace, and takes its ID or its exact name', async () => {
  const none = await parley('key', 'create', '--name', 'till', '--scope', 'messages:read')
  expect(none).toMatchObject({ code: 1, err: expect.stringContaining('No workspaces yet.') })
  const only = await newWorkspace(server, 'Corner Shop')
  const create = (...more: string[]) => json('key', 'create', '--name', 'till', '--scope', 'messages:read', ...more)
  expect(await create()).toMatchObject({ account_id: only.id })
  expect(await create('--workspace', 'Corner Shop')).toMatchObject({ account_id: only.id })
  expect(await create('--workspace', only.id.toUpperCase())).toMatchObject({ account_id: only.id })

  const other = await newWorkspace(server, 'Bakery')
  const webhook = ['webhook', 'create', '--name', 'crm', '--url', 'https://example.com/', '--event', 'message.received']
  for (const words of [
    ['key', 'create', '--name', 'till', '--scope', 'messages:read'],
    ['user', 'create', '--email', 'bea@example.com', '--role', 'member'],
    ['connection', 'create', '--app', '00000000-0000-4000-8000-000000000000', '--waba-id', '1', '--access-token', 't'],
    webhook,
  ]) {
    const missing = await parley(...words)
    expect(missing).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^Missing option: --workspace ID\./) })
    const unknown = await parley(...words, '--workspace', 'corner shop')
    expect(unknown.err).toMatch(/^No workspace has the ID or name "corner shop"\./)
  }
  expect(await create('--workspace', 'Bakery')).toMatchObject({ account_id: other.id })
  const listed = await json('key', 'list', '--workspace', 'Bakery')
  expect(listed.data.map((key: { account_id: string }) => key.account_id)).toEqual([other.id, other.id])
  for (const noun of ['webhook', 'connection']) {
    expect((await json(noun, 'list', '--workspace', 'Bakery')).total).toBe(0)
    expect((await parley(noun, 'list', '--workspace', 'x')).err).toMatch(/^No workspace has the ID or name "x"\./)
  }
  await newWorkspace(server, 'Bakery')
  expect((await parley('key', 'list', '--workspace', 'Bakery')).err).toMatch(
    /^"Bakery" fits 2 workspaces\. Enter more of the ID:\n {2}\S+ {2}Bakery\n/,
  )
})

test('key list says until when a rotated key works, and which key replaced it', async () => {
  const { id: workspaceId } = await newWorkspace(server)
  const options = ['--workspace', workspaceId]
  const old = await json('key', 'create', ...options, '--name', 'till', '--scope', 'messages:read')
  const rotated = await json('key', 'rotate', old.id)
  const { out } = await parley('key', 'list', ...options)
  expect(out).toMatch(new RegExp(`${old.id} .* rotated, works until \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d`))
  expect(out).toMatch(new RegExp(`${rotated.id} .* active `))
  const { data } = await json('key', 'list', ...options)
  const replacedBy = data.map((each: { id: string; replaced_by: string | null }) => [each.id, each.replaced_by])
  expect(Object.fromEntries(replacedBy)).toMatchObject({ [old.id]: rotated.id, [rotated.id]: null })
})

test('key rotate creates a key for the same calling system, as the console does', async () => {
  const { workspace, sendText } = await sending.newShop()
  const sent = await sendText('16505550123')
  const rotated = await json('key', 'rotate', workspace.key.id)
  expect(rotated).toMatchObject({ name: 'test key', account_id: workspace.id, old_key_id: workspace.key.id })
  for (const key of [rotated.secret, workspace.secret]) {
    const { body } = await server.call('/v1/messages', { key })
    expect((body as { data: Message[] }).data.map(({ id }) => id)).toEqual([sent.id])
  }
  const person = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const again = await person.call(`/w/${workspace.id}/keys/${rotated.id}/rotate`, {
    method: 'POST',
    body: { grace_hours: 24 },
  })
  expect(again.status).toBe(201)
  expect(await rotations(workspace.id)).toEqual([
    {
      actor: expect.stringMatching(/^command line \(.+\)$/),
      target: workspace.key.id,
      target_name: 'test key',
      after: { new_key: rotated.id, old_key_ends_at: rotated.old_key_ends_at },
    },
    {
      actor: person.email,
      target: rotated.id,
      target_name: 'test key',
      after: { new_key: again.body.key.id, old_key_ends_at: expect.any(String) },
    },
  ])
})

test('key rotate --grace-hours 0 revokes the old key at once', async () => {
  const workspace = await newWorkspace(server, 'Rotating')
  const { code, out } = await parley('key', 'rotate', workspace.key.id, '--grace-hours', '0')
  expect([code, out]).toEqual([0, expect.stringContaining('The old key is revoked.')])
  const secret = /prl_live_\w+/.exec(out)?.[0] ?? ''
  expect((await server.call('/v1/me', { key: workspace.secret })).body).toMatchObject({
    error: { code: 'key_revoked' },
  })
  expect((await server.call('/v1/me', { key: secret })).status).toBe(200)
})

test('key rotate refuses another grace period, an unknown key and a revoked one, and changes nothing', async () => {
  const workspace = await newWorkspace(server, 'Refusing')
  const wrong = await parley('key', 'rotate', workspace.key.id, '--grace-hours', '2')
  expect(wrong).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^Invalid --grace-hours "2"\. Use one of 0, 1, 24\./),
  })
  const unknown = await parley('key', 'rotate', '00000000-0000-4000-8000-000000000000')
  expect(unknown).toMatchObject({ code: 1, err: expect.stringMatching(/^No API key has the ID /) })
  await json('key', 'revoke', workspace.key.id)
  const revoked = await parley('key', 'rotate', workspace.key.id)
  expect(revoked).toMatchObject({ code: 1, err: expect.stringMatching(/^This key was revoked\./) })
  expect(await rotations(workspace.id)).toEqual([])
  expect((await json('key', 'list', '--workspace', workspace.id)).total).toBe(1)
})

test('an empty --ip or --scope is refused, and neither creates nor changes a key', async () => {
  const workspace = await newWorkspace(server, 'Restricted')
  const create = ['key', 'create', '--workspace', workspace.id, '--name', 'till']
  for (const [option, words] of [
    ['ip', [...create, '--scope', 'messages:read', '--ip', '']],
    ['ip', ['key', 'change', workspace.key.id, '--ip', ' , ']],
    ['scope', [...create, '--scope', '']],
    ['scope', ['key', 'change', workspace.key.id, '--scope', '']],
  ] as const) {
    const { code, out, err } = await parley(...words)
    expect({ code, out }, words.join(' ')).toEqual({ code: 1, out: '' })
    expect(err).toMatch(new RegExp(`^--${option} is empty\\. Enter a value or leave out the option\\.\n`))
  }
  expect((await json('key', 'list', '--workspace', workspace.id)).total).toBe(1)
})
