import { expect, test } from 'vitest'
import { actionLabel, sentenceOf } from './audit-actions.ts'

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
  [{ ...nothing, action: 'account.passkey_remove', target: 'id' }, 'removed the passkey'],
  [{ ...nothing, action: 'moon.land_on', target_name: 'Apollo' }, 'moon: land on “Apollo”'],
])('%o is shown as: %s', (entry, text) => {
  expect(sentenceOf(entry)).toBe(text)
})

test('an unknown action is shown in readable form', () => {
  expect(actionLabel('moon.land_on')).toBe('Moon: land on')
  expect(actionLabel('key.create')).toBe('Key created')
})
