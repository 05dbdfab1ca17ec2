import { describe, expect, test } from 'vitest'
import { fixture, fixtures } from '../../../testing/fixtures.ts'
import { type Incoming, readWebhook } from './incoming.ts'

const webhooks = fixtures((value) => value.object === 'whatsapp_business_account')
const expected = fixture('expected.json') as Record<string, string[]>
const now = new Date('2026-09-01T00:00:00.000Z')

describe('every webhook fixture is parsed as listed in expected.json', () => {
  test('expected.json lists every fixture', () => {
    expect(webhooks.length).toBeGreaterThan(150)
    expect(Object.keys(expected).sort()).toEqual(webhooks.map(([path]) => path).sort())
  })

  test.each(webhooks)('%s', (path, body) => {
    expect(readWebhook(body, now).map(summary)).toEqual(expected[path])
  })
})

/** One line per item: its kind, then every field that is set. */
function summary(item: Incoming): string {
  const { kind, wabaId, ...rest } = item as unknown as Record<string, unknown>
  const fields = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== false)
    .map(([name, value]) => `${name}=${value instanceof Date ? value.toISOString() : JSON.stringify(value)}`)
  return [kind, `waba=${wabaId}`, ...fields].join(' ')
}
