import { beforeEach, expect, test, vi } from 'vitest'
import { newLogger } from '../telemetry/logger.ts'
import type { Db } from './db.ts'
import { newSchemaCheck, type Schema, type SchemaWatch } from './schema-version.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  return () => void vi.useRealTimers()
})

/** The check of a program with version 61, which looks again whenever it is called. */
function newCheck(watch: SchemaWatch) {
  const schema: Schema = { version: 61, oldest: 61 }
  const db = { first: async (text: string) => (text.includes('to_regclass') ? { exists: true } : schema) }
  const lines: string[] = []
  const log = newLogger('info', { write: (line) => void lines.push(line) })
  const check = newSchemaCheck(db as unknown as Db, log, 61, watch)
  const look = () => {
    vi.advanceTimersByTime(2_000)
    return check()
  }
  const events = () => lines.map((line) => JSON.parse(line).event as string)
  return { schema, look, events }
}

test('work that cannot start when the schema is usable again is started by a later check', async () => {
  const calls: string[] = []
  const { schema, look, events } = newCheck({
    async onUnusable() {
      calls.push('unusable')
    },
    async onUsable() {
      calls.push('usable')
      if (calls.length === 2) throw new Error('the work cannot start')
    },
  })
  await look()
  schema.oldest = 62
  await look()
  await look()
  expect(calls).toEqual(['unusable'])
  schema.oldest = 61
  await expect(look()).rejects.toThrow('the work cannot start')
  await look()
  await look()
  expect(calls).toEqual(['unusable', 'usable', 'usable'])
  expect(events()).toEqual(['schema.unusable', 'schema.usable'])
})
