import { expect, test } from 'vitest'
import { goodPassword, newBrowser, signedIn } from '../../../testing/console.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { open } from '../../lib/seal.ts'
import { mailSecretContext } from '../mail/outbox.ts'
import { codeAt } from './sign-in/totp.ts'

// Emails wait: no mail server listens there.
const env = { PARLEY_SMTP_URL: 'smtp://127.0.0.1:9', PARLEY_MAIL_FROM: 'parley@example.com' }
const server = useTestServer({ env })
const post = (body: object = {}) => ({ method: 'POST', body })

/** Every row of every table, as text; bytes are in hex. */
async function dumpDatabase(): Promise<string> {
  const tables = await server.db.rows<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname = 'public' and not c.relispartition`,
  )
  const parts = []
  for (const { name } of tables) {
    const rows = await server.db.rows<{ row: string }>(`select t::text as row from ${name} t`)
    parts.push(name, ...rows.map(({ row }) => row))
  }
  return parts.join('\n')
}

test('neither the database nor the log contains a secret in plain text', async () => {
  const workspace = await newWorkspace(server)
  const at = (path: string) => `/w/${workspace.id}${path}`
  const operator = await signedIn(server, { operator: true })
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const secrets: Record<string, string> = { password: goodPassword, 'an API key': workspace.secret }

  const totp = (await admin.call('/account/totp', { method: 'POST' })).body
  await admin.call('/account/totp/verify', post({ code: codeAt(totp.secret, server.clock.now()) }))
  secrets['the app’s secret'] = totp.secret
  for (const [index, code] of totp.backup_codes.entries()) secrets[`backup code ${index}`] = code
  secrets['a session'] = admin.cookies.get('parley-session') ?? ''

  const awaitingCode = newBrowser(server.url)
  await awaitingCode.call('/sign-in', post({ email: admin.email, password: goodPassword }))
  secrets['a step of signing in'] = awaitingCode.cookies.get('parley-step') ?? ''
  const passkey = newBrowser(server.url)
  await passkey.call('/sign-in/passkey/options', { method: 'POST' })
  secrets['a step with a passkey'] = passkey.cookies.get('parley-step') ?? ''
  await passkey.call('/sign-in', post({ email: operator.email, password: 'a canary that is wrong' }))
  secrets['a wrong password'] = 'a canary that is wrong'

  const invited = await admin.call(at('/team/invites'), post({ email: 'new@example.com', role: 'member' }))
  expect(invited.body).toMatchObject({ mailed: true })
  const personId = (await admin.call('/session')).body.person.id
  await operator.call(`/operator/people/${personId}/reset-link`, post())
  const mails = await server.db.rows<{ id: string; kind: string; sealed: string }>(
    'select id, kind, secret_sealed as sealed from mails where secret_sealed is not null',
  )
  expect(mails).toHaveLength(2)
  for (const { id, kind, sealed } of mails) {
    secrets[`the link of ${kind}`] = open(server.secretKeys, sealed, mailSecretContext(id))
  }

  const key = await admin.call(at('/keys'), post({ name: 'k', scopes: ['senders:read'] }))
  secrets['a key of the console'] = key.body.secret
  const hook = await admin.call(
    at('/webhooks'),
    post({ name: 'h', url: 'http://127.0.0.1:1/hook', events: ['message.sent'] }),
  )
  secrets['a webhook’s secret'] = hook.body.secret
  const app = { name: 'App', app_secret: 'canary-app-secret-123456', verify_token: 'canary-verify-token' }
  expect((await operator.call('/operator/apps', post(app))).status).toBe(201)
  secrets['an app’s secret'] = app.app_secret
  secrets['an app’s token'] = app.verify_token
  await admin.call('/account/password', post({ current: goodPassword, next: 'another canary of mine' }))
  secrets['a new password'] = 'another canary of mine'

  const stored = await dumpDatabase()
  expect(stored).toContain(admin.email)
  const logged = server.logged.join('\n')
  for (const [name, secret] of Object.entries(secrets)) {
    expect(secret?.length, name).toBeGreaterThan(9)
    const plain = name.startsWith('backup') ? [secret, secret.replaceAll('-', '')] : [secret]
    for (const form of plain.flatMap((each) => [each, Buffer.from(each).toString('hex')])) {
      expect(stored.includes(form), `${name} in the database`).toBe(false)
      expect(logged.includes(form), `${name} in the log`).toBe(false)
    }
  }
})
