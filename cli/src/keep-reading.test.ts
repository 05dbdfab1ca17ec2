import { Refusal } from '@parley/server/lib/refuse'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Command } from './command.ts'
import { errorJson, explain } from './explain.ts'
import { keepReading } from './keep-reading.ts'

const away = Object.assign(new Error('the database system is shutting down'), { code: '57P03' })

test('while the database is away it says so once, and continues when it is back', async () => {
  const err = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => err.mockRestore())
  const stop = new AbortController()
  let reads = 0
  await keepReading(stop.signal, async () => {
    reads++
    if (reads <= 2) throw away
    stop.abort()
  })
  expect(reads).toBe(3)
  const line = 'The database does not respond: the database system is shutting down. Trying again.'
  expect(err.mock.calls).toEqual([[line]])
  await expect(
    keepReading(new AbortController().signal, async () => {
      throw new Refusal('not_found')
    }),
  ).rejects.toThrow(Refusal)
})

test('an error of the database is one line, and a bug has its stack', () => {
  const command: Command = { name: 'webhook rotate', idOf: 'webhook', run: async () => undefined }
  expect(explain(away, command, [])).toBe('The database does not respond: the database system is shutting down.')
  expect(errorJson(away, command, [])).toEqual({
    error: {
      type: 'api_error',
      code: 'command_failed',
      message: 'The database does not respond: the database system is shutting down.',
    },
  })
  expect(explain(new TypeError('x is not a function'), command, [])).toMatch(/^TypeError: x is not a function\n {4}at /)
  expect(explain(new Refusal('not_found'), command, ['whk_1'])).toBe(
    'No webhook has the ID "whk_1". Run "./parley webhook list" to see all webhooks.',
  )
})
