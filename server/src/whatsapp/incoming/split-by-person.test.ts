import { expect, test } from 'vitest'
import { splitByPerson } from './split-by-person.ts'

const webhookOf = (value: object) =>
  JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: '1', changes: [{ field: 'messages', value }] }] })
const withoutPerson = (webhook: string, person: typeof ids) => splitByPerson(webhook, person).rest
const ids = { isNumber: true, numbers: ['491701', '491702x'], userIds: ['DE.1'] }

test('what is about a person is removed, by number or user ID, and everything else stays', () => {
  const kept = {
    metadata: { phone_number_id: '9' },
    contacts: [{ wa_id: '491702' }],
    messages: [{ from: '491702', id: 'b', size: 2 }],
    statuses: [{ recipient_id: '491702', status: 'read' }],
  }
  const webhook = webhookOf({
    metadata: { phone_number_id: '9' },
    contacts: [{ wa_id: '491701' }, { wa_id: '491702' }, { user_id: 'DE.1' }],
    messages: [
      { from: '491701', id: 'a' },
      { from: '491702', id: 'b', size: 2 },
      { from_user_id: 'DE.1', id: 'c' },
    ],
    statuses: [
      { recipient_id: '491702', status: 'read' },
      { recipient_user_id: 'DE.1', status: 'read' },
    ],
  })
  expect(withoutPerson(webhook, ids)).toBe(webhookOf(kept))
  expect(JSON.parse(splitByPerson(webhook, ids).about ?? '')).toEqual(
    JSON.parse(
      webhookOf({
        metadata: { phone_number_id: '9' },
        contacts: [{ wa_id: '491701' }, { user_id: 'DE.1' }],
        messages: [
          { from: '491701', id: 'a' },
          { from_user_id: 'DE.1', id: 'c' },
        ],
        statuses: [{ recipient_user_id: 'DE.1', status: 'read' }],
      }),
    ),
  )
})

test.each([
  ['16503879439', 'wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBJCOTY3NDc0NDFDRUI3NTA0Q0UA', true],
  ['1650387943', 'wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBJCOTY3NDc0NDFDRUI3NTA0Q0UA', false],
  ['6503879439', 'wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBJCOTY3NDc0NDFDRUI3NTA0Q0UA', false],
  ['16508683472', 'wamid.gBGGFlCGg0cvAgkLFm4e9tICiTI', true],
  ['16508683473', 'wamid.gBGGFlCGg0cvAgkLFm4e9tICiTI', false],
  ['16503879439', 'wamid.', false],
  ['16503879439', undefined, false],
])('a status without a number is about the number in its ID: %s in %s is %s', (number, id, isTheirs) => {
  const webhook = webhookOf({ statuses: [{ id, status: 'read' }] })
  const { about } = splitByPerson(webhook, { isNumber: true, numbers: [number], userIds: [] })
  expect(about !== null).toBe(isTheirs)
})

test('a webhook about the person alone is removed, and a webhook that does not name the person keeps its text', () => {
  expect(withoutPerson(webhookOf({ contacts: [{ wa_id: '491702' }], messages: [{ from: '491701' }] }), ids)).toBeNull()
  const others = webhookOf({ messages: [{ from: '4917019', text: { body: 'call 491701' } }], big: 1e3 })
  expect(withoutPerson(others, ids)).toBe(others)
  expect(withoutPerson('[]', ids)).toBe('[]')
  const precise =
    '{"entry":[{"changes":[{"value":{"n":12345678901234567890,"messages":[{"from":"491701"},{"from":"2"}]}}]}]}'
  expect(withoutPerson(precise, ids)).toContain('12345678901234567890')
})

const others = { calls: [{ id: '491702@s.whatsapp.net' }] }
const longer = { calls: [{ by: { '4917010': 'x' } }] }
const numbered = { from: 491702, contacts: [{ phones: [{ wa_id: 491701 }] }] }

test.each<[string, object, object | null]>([
  [
    'in nested lists',
    {
      history: [
        {
          threads: [
            { id: '491701', messages: [{ from: '9' }] },
            { id: '491702', messages: [{ from: '9' }] },
          ],
        },
      ],
    },
    { history: [{ threads: [{ id: '491702', messages: [{ from: '9' }] }] }] },
  ],
  ['outside of any list', { sender: { phone_number: '+491701' }, items: [{ n: 1 }] }, null],
  ['as a user ID', { calls: [{ to_user_id: 'DE.1' }, { to_user_id: 'DE.2' }] }, { calls: [{ to_user_id: 'DE.2' }] }],
  ['as a JSON number', { calls: [{ from: 491701 }, { from: 4917011 }] }, { calls: [{ from: 4917011 }] }],
  ['in an address', { calls: [{ id: '491701@s.whatsapp.net' }, { id: '491702@s.whatsapp.net' }] }, others],
  [
    'in an address with a device',
    { calls: [{ id: '491701:7@s.whatsapp.net' }, { id: '491702@s.whatsapp.net' }] },
    others,
  ],
  ['with separators', { calls: [{ id: '+49 (17)-0.1' }, { id: '491702@s.whatsapp.net' }] }, others],
  ['as the name of a member', { calls: [{ by: { '491701': 'x' } }, { by: { '4917010': 'x' } }] }, longer],
  ['in the message that another person wrote, as a JSON number', { messages: [numbered] }, { messages: [numbered] }],
  ['in a text of others', { calls: [{ note: 'call 491701' }] }, { calls: [{ note: 'call 491701' }] }],
  ['in the card that another person shared', { messages: [card('491702')] }, { messages: [card('491702')] }],
])('a person is found in a field of any shape: %s', (_name, value, rest) => {
  expect(withoutPerson(webhookOf(value), ids)).toBe(rest && webhookOf(rest))
})

function card(from: string) {
  return { from, type: 'contacts', contacts: [{ phones: [{ wa_id: '491701' }] }] }
}
