import { Check } from 'typebox/value'
import { expect, test } from 'vitest'
import { eventSchemas, eventTypes, receivedEventSchemas } from './events.ts'
import { Sender } from './sender.ts'
import { Template } from './template.ts'

const schemas = [...Object.entries(receivedEventSchemas), ['sender', Sender], ['template', Template]] as const

test.each(schemas)('the example of %s matches its schema', (_name, schema) => {
  const examples = (schema as { examples?: unknown[] }).examples ?? []
  expect(examples.length).toBeGreaterThan(0)
  for (const example of examples) expect(Check(schema, example)).toBe(true)
})

test('every event type has one schema', () => {
  expect(Object.keys(eventSchemas)).toEqual([...eventTypes])
})

test.each(eventTypes)('%s allows unknown fields and requires every known one', (type) => {
  const schema = eventSchemas[type]
  const [example] = (schema as { examples?: { data: Record<string, unknown> }[] }).examples ?? []
  expect(Check(schema, { ...example, data: { ...example?.data, brand_new: true }, more: 1 })).toBe(true)
  for (const field of Object.keys(example?.data ?? {})) {
    const { [field]: _gone, ...rest } = example?.data ?? {}
    expect([field, Check(schema, { ...example, data: rest })]).toEqual([field, false])
  }
})
