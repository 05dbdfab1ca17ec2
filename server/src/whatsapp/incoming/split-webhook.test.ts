import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fixtures } from '../../../testing/fixtures.ts'
import { type Incoming, readWebhook } from './incoming.ts'
import { depthOf, partsOf } from './raw-json.ts'
import { splitWebhook, valueIn } from './split-webhook.ts'

const now = new Date('2026-09-01T00:00:00.000Z')

test('any JSON value is taken apart into the texts of its parts', () => {
  const spaced = fc.constantFrom(undefined, 1, '\t')
  fc.assert(
    fc.property(
      fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())),
      spaced,
      (value, space) => {
        const parts = [...partsOf(JSON.stringify(value, null, space))]
        expect(parts.map(([name, text]) => [name, JSON.parse(text)])).toEqual(
          JSON.parse(JSON.stringify(Object.entries(value))),
        )
      },
    ),
  )
})

test('numbers keep their digits, duplicate members count once, and depth is no problem', () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  const parts = partsOf(` { "a" : 12345678901234567890 , "b":1.0,"b" : "x\\"}", "c":${deep}} `)
  expect([...parts]).toEqual([
    ['a', '12345678901234567890'],
    ['b', '"x\\"}"'],
    ['c', deep],
  ])
  expect([depthOf(deep), depthOf('"[["'), depthOf('{"a":[1]}')]).toEqual([200_000, 0, 2])
})

test('the parts of every webhook are read like the whole', () => {
  const items = (text: string) => readWebhook(JSON.parse(text), now)
  const withoutPosition = (all: Incoming[]) => all.map((item) => ({ ...item, entry: null, change: null }))
  for (const [, body] of fixtures((value) => value.object === 'whatsapp_business_account')) {
    const text = JSON.stringify(body)
    const parts = splitWebhook(text).flatMap(({ webhook }) => items(webhook))
    expect(withoutPosition(parts)).toEqual(withoutPosition(items(text)))
  }
})

test('a part has the value as it arrived', () => {
  const text =
    '{"object":"whatsapp_business_account","entry":[{"id":"1","time":5,"changes":[{"field":"x","value":{ "n":1e400 }},{"field":"y"},7]},{"id":"2"},3]}'
  expect(
    splitWebhook(text).map(({ webhook, field, entry, change }) => [entry, change, field, valueIn(webhook)]),
  ).toEqual([
    [0, 0, 'x', '{ "n":1e400 }'],
    [0, 1, 'y', '{"field":"y"}'],
    [0, 2, null, '7'],
    [1, null, null, '{"id":"2"}'],
    [2, null, null, '3'],
  ])
  expect(splitWebhook(text)[0]?.webhook).toBe(
    '{"object":"whatsapp_business_account","entry":[{"id":"1","time":5,"changes":[{"field":"x","value":{ "n":1e400 }}]}]}',
  )
  for (const whole of ['[]', 'null', '{"entry":{}}', '{"object":"page","entry":[]}']) {
    expect(splitWebhook(whole).map(({ webhook }) => valueIn(webhook))).toEqual([whole])
  }
})
