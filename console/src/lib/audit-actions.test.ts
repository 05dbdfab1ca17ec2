import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { actionLabel, pageOf, sentenceOf } from './audit-actions.ts'

const nothing = { target: null, target_name: null, before: null, after: null }

test.each([
  [{ ...nothing, action: 'key.revoke', target: 'id', target_name: 'Billing' }, 'revoked the key “Billing”'],
  [
    {
      ...nothing,
      action: 'member.role',
      target_name: 'b@x.example',
      before: { role: 'admin' },
      after: { role: 'member' },
    },
    'changed the role of b@x.example from admin to member',
  ],
  [{ ...nothing, action: 'workspace.credit', after: { amount: -5 } }, 'removed 5 credits'],
  [
    {
      ...nothing,
      action: 'workspace.settings',
      before: { name: 'A', low_balance: 1 },
      after: { name: 'A', low_balance: 2 },
    },
    'changed the settings (low balance)',
  ],
  [
    {
      ...nothing,
      action: 'person.passkey_remove',
      target: 'id',
      target_name: 'b@x.example',
      before: { passkey: 'id', name: 'Laptop' },
    },
    'removed the passkey “Laptop” of b@x.example',
  ],
  [
    { ...nothing, action: 'account.password', after: { by: 'reset link', passkeys_removed: 2, sessions_ended: 1 } },
    'changed their password (reset link), which removed their passkeys',
  ],
  [{ ...nothing, action: 'data.export', target_name: 'orders.csv' }, 'exported orders'],
  [{ ...nothing, action: 'data.export', target_name: 'conversation.json' }, 'exported a conversation'],
  [
    { ...nothing, action: 'form.download', target: 'id', after: { index: 0 } },
    'downloaded file 1 of a form submission',
  ],
  [{ ...nothing, action: 'session.failed', after: { why: 'wrong password' } }, 'failed to sign in (wrong password)'],
  [
    { ...nothing, action: 'session.failed_more', target_name: 'b@x.example', after: { failures: 9 } },
    'counted 9 more failed attempts to sign in as b@x.example',
  ],
  [{ ...nothing, action: 'account.passkey_remove', target: 'id' }, 'removed the passkey'],
  [{ ...nothing, action: 'moon.land_on', target_name: 'Apollo' }, 'moon: land on “Apollo”'],
])('%o is shown as: %s', (entry, text) => {
  expect(sentenceOf(entry)).toBe(text)
})

test.each([
  ['key.revoke', 'keys?open=id'],
  ['webhook.disable', 'webhooks/id'],
  ['webhook.delete', null],
  ['message.send', 'messages/id'],
  ['sender.register', 'senders/id'],
  ['order.status', 'orders/id'],
  ['form.download', 'forms/id'],
  ['refusals.mute', 'api-errors?open=id'],
  ['session.failed', null],
])('the page of the target of %s is %s', (action, path) => {
  expect(pageOf({ action, target: 'id' })).toBe(path)
})

test('every action of the service and of the commands has a sentence and a label', () => {
  const root = join(import.meta.dirname, '../../..')
  const files = globSync('{server,cli}/src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const lines = files.flatMap((file) => readFileSync(join(root, file), 'utf8').split('\n'))
  const written = lines
    .filter((line) => /\baction: '|const action = |\bauditing\(/.test(line))
    .flatMap((line) => [...line.matchAll(/'([a-z]+\.[a-z_]+)'/g)].map(([, action = '']) => action))
    .filter((action) => !/\.(csv|json)$/.test(action))
  const actions = [...new Set(written)]
  expect(actions.length).toBeGreaterThan(60)
  expect(actions.filter((action) => actionLabel(action) === plain(action))).toEqual([])
  expect(actions.filter((action) => sentenceOf({ ...nothing, action }) === plain(action).toLowerCase())).toEqual([])
})

const plain = (action: string) => {
  const words = action.replace('.', ': ').replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

test('an unknown action is shown in readable form', () => {
  expect(actionLabel('moon.land_on')).toBe('Moon: land on')
  expect(actionLabel('key.create')).toBe('Key created')
})
