import { expect, test } from 'vitest'
import {
  eventsOf,
  newApp,
  newSender,
  signatureOf,
  text,
  updateEventsOf,
  webhookOf,
} from '../../../../testing/network-app.ts'
import { secretKeys } from '../../../../testing/service.ts'
import { startHere, startMortal } from '../../../../testing/service-here.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'
import { openDatabase } from '../../../db/db.ts'
import { systemClock } from '../../../lib/clock.ts'
import { newUuid } from '../../../lib/ids.ts'
import { silentLogger } from '../../../telemetry/silent-logger.ts'
import { fieldReaders } from '../../../whatsapp/incoming/incoming.ts'
import { members } from '../../../whatsapp/incoming/known.ts'
import { messages as knownMessages } from '../../../whatsapp/incoming/known-members.ts'
import type { Change } from '../../../whatsapp/incoming/unread.ts'
import { beginErasure, takeErasureStep } from '../../privacy/erase.ts'
import { newIngress } from './ingress.ts'
import { rereadEarlier, rereadUpdates } from './reread.ts'

const server = useTestServer()

type Readers = typeof fieldReaders

/** The readers without `standby`, and with it. */
const off: Readers = new Map([...fieldReaders].filter(([field]) => field !== 'standby'))
const conversation = fieldReaders.get('messages')?.read ?? (() => [])
const readStandby = ({ value, ...rest }: Change) => conversation({ ...rest, value: value.standby as Change['value'] })
const known = members({ messaging_product: () => true, metadata: () => true, standby: knownMessages })
const on: Readers = new Map([...off, ['standby', fieldReaders.get('standby') ?? { known, read: readStandby }]])

let numbers = 0

async function newShop() {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, String(67_000_000_000 + ++numbers))
  const { db, clock, runtime } = server
  const ingress = newIngress({
    db,
    clock,
    log: silentLogger,
    overload: { refusal: () => new Error('overload') } as never,
    publicUrl: 'http://parley.test',
    ...runtime.network.vault,
    readers: off,
  })
  /** Receives a webhook while nothing reads `standby`. */
  const receive = async (field: string, value: object) => {
    const changes = [{ field, value }]
    const body = Buffer.from(
      JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: sender.wabaId, changes }] }),
    )
    await ingress.receive(app.id, body, signatureOf(app.secret, body.toString()))
  }
  const metadata = { phone_number_id: sender.phoneNumberId }
  return {
    workspace,
    app,
    sender,
    receive,
    metadata,
    standby: (id: string, more: object = {}) =>
      receive('standby', {
        messaging_product: 'whatsapp',
        metadata,
        standby: { messages: [{ ...text(id), ...more }] },
      }),
    stored: () =>
      db.rows<{ field: string; outcome: string; paths: string[]; interpretation: number }>(
        'select field, outcome, paths, interpretation from network_updates where app_id = $1 order by id',
        [app.id],
      ),
    received: async () => (await eventsOf(server, workspace.id)).map(({ data }) => data.wa_message_id),
  }
}

const deps = (readers: Readers, db = server.db) => ({
  db,
  clock: server.clock,
  log: silentLogger,
  publicUrl: 'http://parley.test',
  readers,
})

test('standby that nothing reads is stored; once it is read, its messages are published once and the updates are gone', async () => {
  const { standby, stored, received, workspace } = await newShop()
  const filter = { workspaceId: workspace.id }
  await standby('wamid.S1')
  await standby('wamid.S2')
  expect(await stored()).toMatchObject([{ outcome: 'unknown_field' }, { outcome: 'unknown_field' }])
  expect(await rereadUpdates(deps(off), filter)).toEqual({ read: 2, understood: 0, failed: [] })
  expect(await received()).toEqual([])
  expect(await rereadUpdates(deps(on), filter)).toEqual({ read: 2, understood: 2, failed: [] })
  expect(await rereadUpdates(deps(on), filter)).toEqual({ read: 0, understood: 0, failed: [] })
  expect(await received()).toEqual(['wamid.S1', 'wamid.S2'])
  expect(await stored()).toEqual([])
  // One for each update when it arrived, and none again.
  expect(await updateEventsOf(server, workspace.id)).toHaveLength(2)
})

test('an update that is still read only in part stays once, with what is not read, and its message is published once', async () => {
  const { standby, stored, received, workspace } = await newShop()
  await standby('wamid.P', { foo: 1 })
  for (let time = 0; time < 3; time++) await rereadUpdates(deps(on), { workspaceId: workspace.id })
  expect(await stored()).toMatchObject([{ outcome: 'partly_understood', paths: [expect.stringMatching(/foo$/)] }])
  expect(await received()).toEqual(['wamid.P'])
  expect(await updateEventsOf(server, workspace.id)).toHaveLength(1)
})

test('what was published when an update arrived is not published again', async () => {
  const { receive, metadata, stored, received, workspace } = await newShop()
  await receive('messages', { metadata, messages: [{ ...text('wamid.A'), foo: 1 }] })
  await rereadUpdates(deps(on), { workspaceId: workspace.id })
  expect(await received()).toEqual(['wamid.A'])
  expect(await stored()).toHaveLength(1)
})

test('an update that is reread between two steps of an erasure does not publish the erased message again', async () => {
  const { receive, metadata, stored, received, workspace } = await newShop()
  await receive('messages', { metadata, messages: [{ ...text('wamid.X'), foo: 1 }] })
  const { db, clock } = server
  const person = { number: text('').from }
  const id = await beginErasure(db, clock, { workspaceId: workspace.id, person, askedBy: 'test' })
  expect(await takeErasureStep(db, clock, silentLogger, id)).toBe('erased')
  await rereadUpdates(deps(on), { workspaceId: workspace.id })
  expect(await takeErasureStep(db, clock, silentLogger, id)).toBe('ended')
  expect([await received(), await stored()]).toEqual([[], []])
})

test('only the updates of the field are read again', async () => {
  const { standby, receive, metadata, stored, workspace } = await newShop()
  await standby('wamid.F')
  await receive('calls', { metadata, calls: [] })
  expect(await rereadUpdates(deps(on), { workspaceId: workspace.id, field: 'standby' })).toEqual({
    read: 1,
    understood: 1,
    failed: [],
  })
  expect(await stored()).toMatchObject([{ field: 'calls' }])
})

test('maintenance reads the updates of an earlier interpretation again, and others not', async () => {
  const { standby, stored, received, app } = await newShop()
  await standby('wamid.V1')
  await standby('wamid.V2')
  await rereadEarlier(deps(on))
  expect(await received()).toEqual([])
  await server.db.change('update network_updates set interpretation = 0 where app_id = $1', [app.id])
  await rereadEarlier(deps(on))
  expect(await received()).toEqual(['wamid.V1', 'wamid.V2'])
  expect(await stored()).toEqual([])
})

test('updates of an account that is connected later are published when they are read again', async () => {
  const { app, workspace, stored } = await newShop()
  await app.post(webhookOf('404', [text('wamid.L')]))
  const entry = { id: '1', changes: [{ field: 'calls', value: { metadata: { phone_number_id: '404' } } }] }
  await app.post({ object: 'whatsapp_business_account', entry: [entry] })
  await rereadUpdates(deps(on), {})
  expect(await stored()).toMatchObject([{ outcome: 'not_understood' }, { outcome: 'unknown_field' }])
  await newSender(server, workspace.id, app.id, '404')
  await rereadUpdates(deps(on), {})
  expect(await stored()).toMatchObject([{ outcome: 'unknown_field' }])
  expect((await eventsOf(server, workspace.id)).map(({ data }) => data.wa_message_id)).toEqual(['wamid.L'])
  expect(await updateEventsOf(server, workspace.id)).toMatchObject([{ data: { field: 'calls' } }])
})

test('two processes that read updates again at the same time publish each once', async () => {
  const { standby, stored, received, workspace } = await newShop()
  const ids = Array.from({ length: 150 }, (_, n) => `wamid.C${String(n).padStart(3, '0')}`)
  for (const id of ids) await standby(id)
  const other = openDatabase(server.connection, () => {}, 2)
  const filter = { workspaceId: workspace.id }
  const done = await Promise.all([rereadUpdates(deps(on), filter), rereadUpdates(deps(on, other), filter)])
  await other.close()
  expect(done.reduce((sum, { understood }) => sum + understood, 0)).toBe(ids.length)
  expect((await received()).sort()).toEqual(ids)
  expect(await stored()).toEqual([])
})

test('an update that cannot be published stays, and those after it are published', async () => {
  const { standby, stored, received, workspace } = await newShop()
  for (const id of ['wamid.B1', 'wamid.BAD', 'wamid.B2']) await standby(id)
  await server.db.rows(`create function refuse_bad() returns trigger language plpgsql as
    $$ begin if new.wa_message_id = 'wamid.BAD' then raise 'bad'; end if; return new; end $$`)
  await server.db.rows(
    'create trigger refuse_bad before insert on inbound_messages for each row execute function refuse_bad()',
  )
  await rereadUpdates(deps(on), { workspaceId: workspace.id })
  expect(await received()).toEqual(['wamid.B1', 'wamid.B2'])
  expect(await stored()).toHaveLength(1)
  await server.db.rows('drop trigger refuse_bad on inbound_messages')
  await rereadUpdates(deps(on), { workspaceId: workspace.id })
  expect(await received()).toEqual(['wamid.B1', 'wamid.B2', 'wamid.BAD'])
})

test('a service that is killed while it reads updates again loses nothing and publishes nothing twice', async () => {
  const target = { url: '', db: server.db, clock: systemClock, secretKeys }
  const app = await newApp(target)
  const workspace = await newWorkspace(server)
  await newSender(target, workspace.id, app.id, '68000000000')
  const all = 800
  // Messages that an earlier version could not read.
  await server.db.change(
    `insert into network_updates (id, workspace_id, app_id, field, outcome, paths, received_at, interpretation, digest, webhook)
     select id, $1, $2, 'messages', 'unknown_field', '{}', now(), 0, sha256(n::text::bytea),
       replace($3, 'wamid.N', 'wamid.K' || n)
     from unnest($4::uuid[]) with ordinality as u(id, n)`,
    [
      workspace.id,
      app.id,
      JSON.stringify(webhookOf('68000000000', [text('wamid.N')])),
      Array.from({ length: all }, () => newUuid()),
    ],
  )
  const left = async () =>
    (
      await server.db.first<{ count: number }>('select count(*)::int as count from network_updates where app_id = $1', [
        app.id,
      ])
    )?.count ?? 0
  const env = { PUBLIC_URL: 'http://parley.test' }
  const killed = await startMortal(server.connection, env)
  await until('it has begun', async () => (await left()) < all)
  killed.kill()
  expect(await left()).toBeGreaterThan(0)
  // As if the lease of the killed service had ended.
  await server.db.change(`update maintenance_owner set until = clock_timestamp() - interval '1 second'`)
  await startHere(server.connection, env)
  await until('all are read', async () => (await left()) === 0, 60_000)
  const ids = (await eventsOf(server, workspace.id)).map(({ data }) => String(data.wa_message_id))
  expect(ids.sort()).toEqual(Array.from({ length: all }, (_, n) => `wamid.K${n + 1}`).sort())
}, 120_000)
