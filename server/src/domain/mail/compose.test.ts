import { expect, test } from 'vitest'
import { composeMail } from './compose.ts'

const publicUrl = 'https://parley.example.com'
const workspace = { workspace_id: 'd7c1', workspace: 'Shop' }

const invitation = (name: string, inviter = 'ada@example.com') =>
  composeMail(
    {
      kind: 'invitation',
      data: { workspace: name, inviter, role: 'developer', expires_at: '2026-11-22T09:00:00.000Z' },
    },
    'the-token',
    publicUrl,
  )

test('an invitation says who invites to what, and has the link in both forms', () => {
  const { subject, text, html } = invitation('Shop')
  expect(subject).toBe('Invitation to Shop')
  expect(text).toContain('to the workspace “Shop” on Parley as developer.')
  expect(text).toContain('until 2026-11-22 09:00 UTC')
  expect(text).toContain(`\n${publicUrl}/link#the-token\n`)
  expect(html).toContain(`<a href="${publicUrl}/link#the-token">Accept the invitation</a>`)
})

test('a name cannot add a header, a line or an element', () => {
  const { subject, text, html } = invitation('A\r\nBcc: all@example.com\r\n\r\n<b onclick="x">\u2028B', 'x\ny')
  expect(subject).not.toMatch(/[\r\n\u2028]/)
  expect(text).not.toMatch(/^Bcc/m)
  expect(html).not.toContain('<b ')
  expect(html).toContain('&#60;b onclick=&#34;x&#34;&#62;')
})

test('a name cannot become a link, and a long one does not fill the subject', () => {
  const { subject, text } = invitation('Go to https://evil.example/now or mail me@evil.example')
  expect(subject + text).not.toMatch(/evil\.example|https:\/\/evil|me@evil/)
  expect([...invitation('x'.repeat(100)).subject].length).toBeLessThanOrEqual(150)
})

test('the subject of a notification says what happened, where', () => {
  const since = '2026-11-15T09:00:00.000Z'
  const webhook = { ...workspace, webhook_id: 'whk_1', name: 'CRM' }
  const subjects = [
    composeMail({ kind: 'webhook_failing', data: { ...webhook, failures: 10, failing_since: since } }, null, publicUrl),
    composeMail({ kind: 'webhook_disabled', data: { ...webhook, reason: 'It failed.' } }, null, publicUrl),
    composeMail({ kind: 'credits_low', data: { ...workspace, balance: 98, threshold: 100 } }, null, publicUrl),
    composeMail({ kind: 'credits_low', data: { ...workspace, balance: 0, threshold: 100 } }, null, publicUrl),
    composeMail(
      { kind: 'key_expiring', data: { ...workspace, key_id: '1', name: 'CRM', expires_at: since } },
      null,
      publicUrl,
    ),
    composeMail(
      { kind: 'token_expiring', data: { ...workspace, connection_id: '1', waba_id: '1', expires_at: since } },
      null,
      publicUrl,
    ),
  ].map(({ subject }) => subject)
  expect(subjects).toEqual([
    'Shop: Webhook “CRM” is failing',
    'Shop: Webhook “CRM” was disabled',
    'Shop: Credits are low: 98 left',
    'Shop: No credits are left',
    'Shop: API key “CRM” expires on 2026-11-15',
    'Shop: WhatsApp access token expires on 2026-11-15',
  ])
})

test('a reset without a link says why', () => {
  const reset = { kind: 'password_reset', data: { expires_at: '2026-11-15T09:30:00.000Z' } } as const
  expect(composeMail(reset, 'the-token', publicUrl).text).toContain(`${publicUrl}/link#the-token`)
  const { text } = composeMail(reset, null, publicUrl)
  expect(text).toContain('You sign in with a passkey')
  expect(text).not.toContain('/link#')
})
