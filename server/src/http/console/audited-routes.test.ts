import { beforeAll, expect, test } from 'vitest'
import { type Browser, type BrowserResponse, goodPassword, newBrowser, signedIn } from '../../../testing/console.ts'
import { newFile, newReceivedFile } from '../../../testing/files.ts'
import { newApp, newSender } from '../../../testing/network-app.ts'
import { newPasskey } from '../../../testing/passkey.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { consoleRoutes } from '../../console.ts'
import { invite, newSetupLink } from '../../domain/people/links/links.ts'
import { codeAt } from '../../domain/people/sign-in/totp.ts'
import { fullPath } from './route.ts'
import { Streamed } from './stream.ts'

/**
 * Every route that changes something, and every export and download, writes exactly one audit entry: who, from where, what.
 * If the entry cannot be written, nothing is changed.
 */
const env = { PARLEY_SMTP_URL: 'smtp://127.0.0.1:9', PARLEY_MAIL_FROM: 'parley@example.com' }
const server = useTestServer({ env })
const sending = useSending(server)

interface Row {
  route: string
  /** Null for a route that says why it writes none. */
  action: string | null
  call(): Promise<BrowserResponse>
  by?: () => string
  /** Why a failing entry does not undo the change. */
  keepsChange?: string
}

const post = (body: object = {}) => ({ method: 'POST', body })
const patch = (body: object) => ({ method: 'PATCH', body })
const remove = { method: 'DELETE', body: {} }

/** IDs that earlier calls returned. */
const ids: Record<string, string> = {}
const keep = async (name: string, response: Promise<BrowserResponse>, find: (body: never) => string) => {
  const { status, body, ...rest } = await response
  if (status < 300) ids[name] = find(body as never)
  return { status, body, ...rest }
}

let rows: Row[]
let browsers: Browser[]

beforeAll(async () => {
  const { workspace, senderId, connection } = await sending.newShop()
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const member = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  const leaver = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  const operator = await signedIn(server, { operator: true })
  /** The person of the routes of an own account, and their passkey. */
  const owner = await signedIn(server, { operator: true })
  const passkey = newPasskey()
  const guest = newBrowser(server.url)
  browsers = [admin, leaver, operator, owner, guest]
  const idOf = async (who: Browser) => (await who.call('/session')).body.person.id as string
  const [ownerId, memberId] = [await idOf(owner), await idOf(member)]
  const setupLink = await newSetupLink(server.db, server.clock, null, 'test')
  const inviteLink = await invite(server.db, server.clock, {
    workspaceId: workspace.id,
    email: owner.email,
    role: 'member',
    createdBy: 'test',
  })
  await invite(server.db, server.clock, {
    workspaceId: workspace.id,
    email: 'late@example.com',
    role: 'member',
    createdBy: 'test',
  })
  const invites = (await admin.call(`/w/${workspace.id}/team`)).body.invites
  const formFile = (await newFile(server, workspace, {})).replace('/v1/flow_responses/', '/forms/')
  const messageWithFile = await newReceivedFile(server, workspace, {})
  const newAccount = sending.network.newAccount()
  const { control, simulator } = sending.network
  // The decision about the display name would arrive as a webhook during another row.
  control.switches.set({ templateReviewMs: 3_600_000 })
  const metaApp = control.apps.create({})
  const { id: wabaId } = control.wabas.create({ appIds: [] })
  const { token: metaToken } = control.tokens.create({ appId: metaApp.id, wabaIds: [wabaId] })
  const newSetup = () => ({
    workspace_id: ids.workspace,
    app_id: metaApp.id,
    app_secret: metaApp.secret,
    access_token: metaToken,
    graph_url: simulator.url,
  })
  await placeOrder(workspace.id)
  ids.order = (await admin.call(`/w/${workspace.id}/orders`)).body.data[0].id
  ids.inbound = (await admin.call(`/w/${workspace.id}/messages?direction=received`)).body.data[0].id

  const w = (path: string) => `/w/${workspace.id}${path}`
  const asAdmin = (route: string, action: string, path: () => string, options: () => object = () => ({})): Row => ({
    route,
    action,
    call: () => admin.call(w(path()), options()),
    by: () => admin.email,
  })
  const asOperator = (route: string, action: string, path: () => string, options: () => object): Row => ({
    route,
    action,
    call: () => operator.call(path(), options()),
    by: () => operator.email,
  })
  const asOwner = (route: string, action: string | null, call: () => Promise<BrowserResponse>): Row => ({
    route,
    action,
    call,
    by: () => owner.email,
  })
  const W = '/console/api/w/:workspace'
  const A = '/console/api'
  const url = 'http://127.0.0.1:9/hooks'
  const webhook = { name: 'CRM', url, events: ['message.received'] }
  const { id: templateId, account } = (await admin.call(`/w/${workspace.id}/templates`)).body.data[0]
  const templateBody = { type: 'BODY', text: 'Your order is ready.' }
  const newTemplate = { name: 'order_ready', language: 'en', category: 'UTILITY', components: [templateBody], account }
  const text = { sender_id: senderId, to: '16505550123', type: 'text', text: { body: 'hi' } }

  rows = [
    {
      ...asAdmin(`POST ${W}/keys`, 'key.create', () => ''),
      call: () =>
        keep(
          'key',
          admin.call(w('/keys'), post({ name: 'Shop', scopes: [] })),
          (body: { key: { id: string } }) => body.key.id,
        ),
    },
    asAdmin(
      `PATCH ${W}/keys/:id`,
      'key.change',
      () => `/keys/${ids.key}`,
      () => patch({ name: 'Till' }),
    ),
    asAdmin(
      `POST ${W}/keys/:id/rotate`,
      'key.rotate',
      () => `/keys/${ids.key}/rotate`,
      () => post({ grace_hours: 24 }),
    ),
    asAdmin(
      `POST ${W}/keys/:id/revoke`,
      'key.revoke',
      () => `/keys/${ids.key}/revoke`,
      () => post(),
    ),
    {
      ...asAdmin(`POST ${W}/webhooks`, 'webhook.create', () => ''),
      call: () =>
        keep(
          'webhook',
          admin.call(w('/webhooks'), post(webhook)),
          (body: { webhook: { id: string } }) => body.webhook.id,
        ),
    },
    asAdmin(
      `PATCH ${W}/webhooks/:id`,
      'webhook.change',
      () => `/webhooks/${ids.webhook}`,
      () => patch({ url: `${url}/2` }),
    ),
    asAdmin(
      `POST ${W}/webhooks/:id/rotate`,
      'webhook.rotate',
      () => `/webhooks/${ids.webhook}/rotate`,
      () => post(),
    ),
    asAdmin(
      `POST ${W}/webhooks/:id/rotate`,
      'webhook.stage_secret',
      () => `/webhooks/${ids.webhook}/rotate`,
      () => post({ staged: true }),
    ),
    asAdmin(
      `POST ${W}/webhooks/:id/activate`,
      'webhook.activate_secret',
      () => `/webhooks/${ids.webhook}/activate`,
      () => post(),
    ),
    asAdmin(
      `POST ${W}/webhooks/:id/rotate`,
      'webhook.stage_secret',
      () => `/webhooks/${ids.webhook}/rotate`,
      () => post({ staged: true }),
    ),
    asAdmin(
      `POST ${W}/webhooks/:id/cancel_rotation`,
      'webhook.cancel_rotation',
      () => `/webhooks/${ids.webhook}/cancel_rotation`,
      () => post(),
    ),
    {
      ...asAdmin(`POST ${W}/webhooks/:id/test`, 'webhook.test', () => ''),
      call: () =>
        keep(
          'event',
          admin.call(w(`/webhooks/${ids.webhook}/test`), post({ type: 'message.received' })),
          (body: { event_id: string }) => body.event_id,
        ),
    },
    asAdmin(
      `POST ${W}/deliveries/:event/:webhook/retry`,
      'delivery.retry',
      () => `/deliveries/${ids.event}/${ids.webhook}/retry`,
      () => post(),
    ),
    asAdmin(
      `POST ${W}/deliveries/retry`,
      'delivery.retry_many',
      () => '/deliveries/retry',
      () => post({ deliveries: [{ event_id: ids.event, webhook_id: ids.webhook }] }),
    ),
    asAdmin(
      `POST ${W}/deliveries/retry_matching`,
      'delivery.retry_many',
      () => '/deliveries/retry_matching',
      () => post({ filters: { state: 'failed' } }),
    ),
    asAdmin(
      `POST ${W}/webhooks/:id/recover`,
      'webhook.recover',
      () => `/webhooks/${ids.webhook}/recover`,
      () => post({ since: server.clock.now().toISOString() }),
    ),
    {
      ...asAdmin(`POST ${W}/webhooks/:id/replays`, 'webhook.replay', () => ''),
      call: () =>
        keep(
          'replay',
          admin.call(w(`/webhooks/${ids.webhook}/replays`), post({ since: '2026-11-01T00:00:00Z' })),
          (body: { id: string }) => body.id,
        ),
    },
    asAdmin(
      `POST ${W}/replays/:id/cancel`,
      'webhook.cancel_replay',
      () => `/replays/${ids.replay}/cancel`,
      () => post(),
    ),
    asAdmin(
      `POST ${W}/webhooks/:id/disable`,
      'webhook.disable',
      () => `/webhooks/${ids.webhook}/disable`,
      () => post({ reason: 'moving' }),
    ),
    asAdmin(
      `POST ${W}/webhooks/:id/enable`,
      'webhook.enable',
      () => `/webhooks/${ids.webhook}/enable`,
      () => post(),
    ),
    asOperator(
      `POST ${A}/operator/webhooks/:id/test`,
      'webhook.test',
      () => `/operator/webhooks/${ids.webhook}/test`,
      () => post(),
    ),
    asAdmin(
      `POST ${W}/webhooks/:id/disable`,
      'webhook.disable',
      () => `/webhooks/${ids.webhook}/disable`,
      () => post({ reason: 'moving again' }),
    ),
    asOperator(
      `POST ${A}/operator/webhooks/:id/enable`,
      'webhook.enable',
      () => `/operator/webhooks/${ids.webhook}/enable`,
      () => post(),
    ),
    asAdmin(
      `DELETE ${W}/webhooks/:id`,
      'webhook.delete',
      () => `/webhooks/${ids.webhook}`,
      () => remove,
    ),
    {
      ...asAdmin(`POST ${W}/messages`, 'message.send', () => ''),
      call: () => keep('message', admin.call(w('/messages'), post(text)), (body: { id: string }) => body.id),
    },
    asAdmin(
      `POST ${W}/messages/:id/again`,
      'message.send_again',
      () => `/messages/${ids.message}/again`,
      () => post(),
    ),
    asAdmin(
      `POST ${W}/messages/:id/read`,
      'message.read',
      () => `/messages/${ids.inbound}/read`,
      () => post(),
    ),
    asAdmin(
      `PATCH ${W}/orders/:id`,
      'order.status',
      () => `/orders/${ids.order}`,
      () => patch({ status: 'confirmed' }),
    ),
    asAdmin(
      `POST ${W}/erasures`,
      'contact.erase',
      () => '/erasures',
      () => post({ phone: '16505550999' }),
    ),
    asAdmin(
      `PUT ${W}/refusals/:code/mute`,
      'refusals.mute',
      () => '/refusals/not_found/mute',
      () => ({ method: 'PUT', body: {} }),
    ),
    asAdmin(
      `DELETE ${W}/refusals/:code/mute`,
      'refusals.unmute',
      () => '/refusals/not_found/mute',
      () => remove,
    ),
    asAdmin(
      `PATCH ${W}/credits`,
      'credits.warn_at',
      () => '/credits',
      () => patch({ low_balance: 7 }),
    ),
    asAdmin(
      `PATCH ${W}/settings`,
      'workspace.settings',
      () => '/settings',
      () => patch({ name: 'Renamed' }),
    ),
    {
      ...asAdmin(
        `POST ${W}/sync`,
        'network.sync',
        () => '/sync',
        () => post(),
      ),
      keepsChange: 'the network’s data, which is synced anyway',
    },
    ...(
      [
        ['POST', 'register', { pin: '314159' }],
        ['PUT', 'pin', { pin: '314159' }],
        ['PUT', 'name', { name: 'Harbour Dental' }],
        ['PATCH', 'profile', { about: 'Open 9 to 5' }],
      ] as const
    ).map(([method, name, body]) => ({
      ...asAdmin(
        `${method} ${W}/senders/:id/${name}`,
        `sender.${name}`,
        () => `/senders/${senderId}/${name}`,
        () => ({ method, body }),
      ),
      keepsChange: 'WhatsApp’s data, which no transaction undoes',
    })),
    ...(
      [
        ['POST', '', 'create', newTemplate],
        ['PATCH', '/:id', 'edit', { components: [templateBody] }],
        ['DELETE', '/:id', 'delete', undefined],
      ] as const
    ).map(([method, path, verb, body]) => ({
      ...asAdmin(
        `${method} ${W}/templates${path}`,
        `template.${verb}`,
        () => `/templates${path && `/${templateId}`}`,
        () => ({ method, ...(body && { body }) }),
      ),
      keepsChange: 'WhatsApp’s data, which no transaction undoes',
    })),
    asAdmin(
      `POST ${W}/team/invites`,
      'invite.create',
      () => '/team/invites',
      () => post({ email: 'new@example.com', role: 'member' }),
    ),
    asAdmin(
      `DELETE ${W}/team/invites/:id`,
      'invite.withdraw',
      () => `/team/invites/${invites.find(({ email }: { email: string }) => email === 'late@example.com').id}`,
      () => remove,
    ),
    asAdmin(
      `PATCH ${W}/team/members/:id`,
      'member.role',
      () => `/team/members/${memberId}`,
      () => patch({ role: 'developer' }),
    ),
    asAdmin(
      `DELETE ${W}/team/members/:id`,
      'member.remove',
      () => `/team/members/${memberId}`,
      () => remove,
    ),
    {
      route: `POST ${W}/team/leave`,
      action: 'member.leave',
      call: () => leaver.call(w('/team/leave'), post()),
      by: () => leaver.email,
    },
    // Exports and downloads.
    asAdmin(`GET ${W}/audit.csv`, 'data.export', () => '/audit.csv?action=key'),
    asAdmin(`GET ${W}/orders.csv`, 'data.export', () => '/orders.csv'),
    asAdmin(`GET ${W}/contact.json`, 'contact.export', () => '/contact.json?phone=16505550999'),
    asAdmin(
      `GET ${W}/contacts/:contact/conversation.json`,
      'data.export',
      () => '/contacts/16505550999/conversation.json',
    ),
    asAdmin(`GET ${W}/requests.csv`, 'data.export', () => '/requests.csv'),
    asAdmin(`GET ${W}/credits.csv`, 'data.export', () => '/credits.csv'),
    ...['messages', 'deliveries', 'forms', 'templates', 'senders', 'keys', 'webhooks', 'team', 'refusals'].map((list) =>
      asAdmin(`GET ${W}/${list}.csv`, 'data.export', () => `/${list}.csv`),
    ),
    asAdmin(`GET ${W}/forms/:id/files/:index`, 'form.download', () => formFile),
    asAdmin(`GET ${W}/messages/:id/file`, 'message.download', () => `/messages/${messageWithFile}/file`),
    // Operators.
    {
      ...asOperator(
        `POST ${A}/operator/workspaces`,
        'workspace.create',
        () => '',
        () => ({}),
      ),
      call: () =>
        keep(
          'workspace',
          operator.call('/operator/workspaces', post({ name: 'Next' })),
          (body: { id: string }) => body.id,
        ),
    },
    asOperator(
      `POST ${A}/operator/workspaces/:id/suspend`,
      'workspace.suspend',
      () => `/operator/workspaces/${ids.workspace}/suspend`,
      () => post({ reason: 'unpaid' }),
    ),
    asOperator(
      `POST ${A}/operator/workspaces/:id/resume`,
      'workspace.resume',
      () => `/operator/workspaces/${ids.workspace}/resume`,
      () => post(),
    ),
    asOperator(
      `POST ${A}/operator/workspaces/:id/credits`,
      'workspace.credit',
      () => `/operator/workspaces/${ids.workspace}/credits`,
      () => post({ amount: 5, note: 'first' }),
    ),
    asOperator(
      `POST ${A}/operator/workspaces/:id/invites`,
      'invite.create',
      () => `/operator/workspaces/${ids.workspace}/invites`,
      () => post({ email: 'first@example.com' }),
    ),
    asOperator(
      `PUT ${A}/operator/prices/:item`,
      'price.set',
      () => '/operator/prices/text',
      () => ({ method: 'PUT', body: { credits: 3 } }),
    ),
    {
      ...asOperator(
        `POST ${A}/operator/apps`,
        'app.create',
        () => '',
        () => ({}),
      ),
      call: () =>
        keep(
          'app',
          operator.call(
            '/operator/apps',
            post({
              name: 'App',
              app_secret: 's-2718',
              verify_token: 'v-3141',
              graph_url: sending.network.simulator.url,
            }),
          ),
          (body: { id: string }) => body.id,
        ),
    },
    asOperator(
      `POST ${A}/operator/connections`,
      'connection.create',
      () => '/operator/connections',
      () =>
        post({
          workspace_id: ids.workspace,
          app_id: ids.app,
          waba_id: newAccount.wabaId,
          access_token: newAccount.token,
        }),
    ),
    {
      ...asOperator(
        `POST ${A}/operator/setup/check`,
        '',
        () => '/operator/setup/check',
        () => post(newSetup()),
      ),
      action: null,
    },
    asOperator(
      `POST ${A}/operator/setup`,
      'app.configure',
      () => '/operator/setup',
      () => post({ ...newSetup(), replace_callback: false }),
    ),
    {
      ...asOperator(
        `POST ${A}/operator/connections/:id/sync`,
        'connection.sync',
        () => `/operator/connections/${connection.id}/sync`,
        () => post(),
      ),
      keepsChange: 'the network’s data, which is synced anyway',
    },
    // An own account.
    asOwner(`PUT ${A}/account/time-zone`, 'account.time_zone', () =>
      owner.call('/account/time-zone', { method: 'PUT', body: { time_zone: 'Asia/Kolkata' } }),
    ),
    asOwner(`PATCH ${A}/account`, 'account.rename', () => owner.call('/account', patch({ name: 'Grace' }))),
    asOwner(`PATCH ${A}/account/notifications`, 'account.notifications', () =>
      owner.call('/account/notifications', patch({ kind: 'token_expiring', wanted: false })),
    ),
    asOwner(`POST ${A}/account/passkeys/options`, null, () =>
      keep(
        'challenge',
        owner.call('/account/passkeys/options', post()),
        (body: { challenge: string }) => body.challenge,
      ),
    ),
    asOwner(`POST ${A}/account/passkeys`, 'account.passkey_add', () =>
      keep(
        'passkey',
        passkey.finish(owner, 'Laptop', { challenge: ids.challenge ?? '' }),
        (body: { id: string }) => body.id,
      ),
    ),
    asOwner(`POST ${A}/confirm/passkey/options`, null, () =>
      keep(
        'challenge',
        owner.call('/confirm/passkey/options', post()),
        (body: { challenge: string }) => body.challenge,
      ),
    ),
    asOwner(`POST ${A}/confirm`, null, () =>
      owner.call('/confirm', post({ passkey: passkey.signed(ids.challenge ?? '') })),
    ),
    asOwner(`DELETE ${A}/account/passkeys/:id`, 'account.passkey_remove', () =>
      owner.call(`/account/passkeys/${ids.passkey}`, remove),
    ),
    asOwner(`POST ${A}/account/totp`, null, () =>
      keep('totp', owner.call('/account/totp', post()), (body: { secret: string; backup_codes: string[] }) => {
        ids.backup = body.backup_codes[0] ?? ''
        return body.secret
      }),
    ),
    asOwner(`POST ${A}/account/totp/verify`, 'account.two_factor_on', () =>
      owner.call('/account/totp/verify', post({ code: codeAt(ids.totp ?? '', server.clock.now()) })),
    ),
    {
      ...asOwner(`POST ${A}/sign-in`, 'session.first_factor', () =>
        guest.call('/sign-in', post({ email: owner.email, password: goodPassword })),
      ),
      keepsChange: sessionIsUnknown,
    },
    {
      ...asOwner(`POST ${A}/sign-in/code`, 'session.begin', () =>
        guest.call('/sign-in/code', post({ code: ids.backup, kind: 'backup' })),
      ),
      keepsChange: sessionIsUnknown,
    },
    asOwner(`POST ${A}/sign-out`, 'session.end', () => guest.call('/sign-out', post())),
    asOwner(`POST ${A}/account/backup-codes`, 'account.backup_codes', () =>
      owner.call('/account/backup-codes', post()),
    ),
    asOwner(`POST ${A}/account/totp/disable`, 'account.two_factor_off', () =>
      owner.call('/account/totp/disable', post()),
    ),
    {
      ...asOwner(`POST ${A}/sign-in`, 'session.begin', () =>
        guest.call('/sign-in', post({ email: owner.email, password: goodPassword })),
      ),
      keepsChange: sessionIsUnknown,
    },
    asOwner(`DELETE ${A}/account/sessions/:id`, 'session.revoke', async () =>
      owner.call(`/account/sessions/${(await guest.call('/session')).body.session.id}`, remove),
    ),
    asOwner(`POST ${A}/account/sessions/revoke-others`, 'session.revoke_others', () =>
      owner.call('/account/sessions/revoke-others', post()),
    ),
    asOwner(`POST ${A}/account/password`, 'account.password', () =>
      owner.call('/account/password', post({ current: goodPassword, next: 'nine patient herons' })),
    ),
    asOperator(
      `DELETE ${A}/operator/people/:id/passkeys/:passkey`,
      'person.passkey_remove',
      () => `/operator/people/${ownerId}/passkeys/${ids.passkey}`,
      () => remove,
    ),
    asOperator(
      `POST ${A}/operator/people/:id/reset-link`,
      'person.reset_link',
      () => `/operator/people/${ownerId}/reset-link`,
      () => post(),
    ),
    asOperator(
      `POST ${A}/operator/people/:id/disable`,
      'person.disable',
      () => `/operator/people/${memberId}/disable`,
      () => post(),
    ),
    asOperator(
      `POST ${A}/operator/people/:id/enable`,
      'person.enable',
      () => `/operator/people/${memberId}/enable`,
      () => post(),
    ),
    {
      route: `POST ${W}/contacts/:contact/read`,
      action: null,
      call: () => admin.call(w('/contacts/16505550123/read'), post()),
    },
    {
      route: `POST ${W}/contacts/read`,
      action: null,
      call: () => admin.call(w('/contacts/read'), post()),
    },
    {
      route: `POST ${A}/sign-in/reset`,
      action: null,
      call: () => guest.call('/sign-in/reset', post({ email: owner.email })),
    },
    {
      route: `POST ${A}/sign-in/passkey/options`,
      action: null,
      call: () => guest.call('/sign-in/passkey/options', post()),
    },
    {
      ...asOwner(`POST ${A}/sign-in/passkey`, 'session.begin', async () => passkey.signIn(guest)),
      keepsChange: sessionIsUnknown,
    },
    {
      route: `POST ${A}/links/read`,
      action: null,
      call: () => guest.call('/links/read', post({ token: setupLink })),
    },
    {
      route: `POST ${A}/links/accept`,
      action: 'member.join',
      call: () => owner.call('/links/accept', post({ token: inviteLink })),
      by: () => owner.email,
    },
    {
      route: `POST ${A}/links/use`,
      action: 'account.setup',
      call: () =>
        guest.call(
          '/links/use',
          post({ token: setupLink, name: 'Eve', email: 'eve@example.com', password: goodPassword }),
        ),
      by: () => 'eve@example.com',
    },
  ]
  // Some routes need a passkey that the rows above have removed.
  const add = async () => {
    const { status, body } = await passkey.register(owner, 'Laptop')
    if (status !== 201) throw new Error(JSON.stringify(body))
    ids.passkey = body.id
  }
  for (const route of [`DELETE ${A}/operator/people/:id/passkeys/:passkey`, `POST ${A}/sign-in/passkey`]) {
    beforeRow.set(route, add)
  }
})

const sessionIsUnknown = 'no one gets the token of the session'
const beforeRow = new Map<string, () => Promise<void>>()

interface Entry {
  id: string
  action: string
  actor: string
  address: string | null
  before: unknown
  after: unknown
}
const entries = () => server.db.rows<Entry>('select id, action, actor, address, before, after from audit_entries')

/** A digest of every table, without the tables that are written in the background. */
const allTables = () =>
  server.db.rows<{ name: string; digest: string }>(
    `select relname as name, query_to_xml(format(
       'select md5(coalesce(string_agg(t::text, '','' order by t::text), '''')) as d from %I t', relname), true, true, '')::text
         as digest
     from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname not in ('request_log', 'traffic_hours', 'key_usage', 'batch_writers', 'clock_marks') order by 1`,
  )

test('every route that changes something is in the table', () => {
  const expected = consoleRoutes(server.runtime)
    .filter(({ method, audited }) => method !== 'GET' || audited)
    .map((route) => `${route.method} ${fullPath(route)}`)
  expect([...new Set(rows.map(({ route }) => route))].sort()).toEqual(expected.sort())
})

test('every route that sends a file is audited, or says why not', () => {
  const files = consoleRoutes(server.runtime).filter(({ reply }) => reply === Streamed)
  expect(files.length).toBeGreaterThanOrEqual(15)
  const unaudited = files.filter(({ audited }) => !audited)
  expect(unaudited.map(fullPath)).toEqual([
    '/console/api/w/:workspace/messages/:id/media',
    '/console/api/w/:workspace/forms/:id/files/:index/media',
  ])
  for (const route of unaudited) expect(route.unaudited, fullPath(route)).toBeTruthy()
})

test('every change, export and download writes one audit entry, and changes nothing without it', async () => {
  await server.db.script(`
    create function refuse_entry() returns trigger language plpgsql as $$ begin raise exception 'no entry'; end $$;
    create trigger refuse_entry before insert on audit_entries for each row execute function refuse_entry();
    alter table audit_entries disable trigger refuse_entry`)
  const secrets = ['s-2718', 'v-3141', goodPassword, 'nine patient herons']
  for (const { route, action, call, by, keepsChange } of rows) {
    await beforeRow.get(route)?.()
    // Webhooks about an earlier row, such as that of a template, bring the next sync forward.
    await sending.network.control.idle()
    if (action !== null && keepsChange === undefined) {
      await server.db.script('alter table audit_entries enable trigger refuse_entry')
      const untouched = await allTables()
      const cookies = browsers.map((browser) => new Map(browser.cookies))
      expect((await call()).status, route).toBe(500)
      expect(await allTables(), route).toEqual(untouched)
      // A response may have deleted the cookies that the next call needs.
      for (const [index, kept] of cookies.entries()) {
        for (const [name, value] of kept) browsers[index]?.cookies.set(name, value)
      }
      await server.db.script('alter table audit_entries disable trigger refuse_entry')
    }
    const known = new Set((await entries()).map(({ id }) => id))
    const { status, body } = await call()
    expect(status, `${route} ${JSON.stringify(body)}`).toBeLessThan(300)
    const written = (await entries()).filter(({ id }) => !known.has(id))
    expect(
      written.map((entry) => [entry.action, entry.actor, entry.address]),
      route,
    ).toEqual(action === null ? [] : [[action, by?.(), '127.0.0.1']])
    const texts = JSON.stringify(written)
    const given = [...secrets, body?.secret, ids.totp].filter((each) => typeof each === 'string')
    for (const secret of given) expect(texts, route).not.toContain(secret)
  }
})

async function placeOrder(workspaceId: string): Promise<void> {
  const app = await newApp(server)
  const sender = await newSender(server, workspaceId, app.id, String(Math.trunc(Math.random() * 1e15)))
  const from = '16505550123'
  const product_items = [{ product_retailer_id: 'SKU-1', quantity: 2, item_price: 9.99, currency: 'EUR' }]
  const value = {
    messaging_product: 'whatsapp',
    metadata: { phone_number_id: sender.phoneNumberId },
    contacts: [{ profile: { name: 'Ana' }, wa_id: from }],
    messages: [
      { from, id: 'wamid.order', timestamp: '1786000000', type: 'order', order: { catalog_id: '1', product_items } },
    ],
  }
  await app.post({ object: 'whatsapp_business_account', entry: [{ id: '1', changes: [{ field: 'messages', value }] }] })
}
