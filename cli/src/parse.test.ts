import { expect, test } from 'vitest'
import { type Command, UsageError } from './command.ts'
import { parseCall } from './parse.ts'

const command: Command = {
  name: 'thing make',
  summary: 'Make a thing',
  args: ['ID'],
  options: {
    name: { value: 'N', required: true, help: 'its name' },
    tag: { value: 'T', repeated: true, help: 'a tag' },
    dry: { help: 'only say what would happen' },
  },
  run: async () => undefined,
}

test('arguments, options, repeated options and flags', () => {
  expect(parseCall(command, ['x1', '--name', 'A', '--tag=a', '--tag', 'b', '--dry', '--json'])).toEqual({
    args: ['x1'],
    values: { name: ['A'], tag: ['a', 'b'] },
    flags: new Set(['dry', 'json']),
  })
})

test.each([
  [['--name', 'A'], 'ID is missing.'],
  [['x1'], '--name N is missing.'],
  [['x1', 'x2', '--name', 'A'], '"x2" is one word too many.'],
  [['x1', '--name', 'A', '--name', 'B'], '--name may be given once.'],
  [['x1', '--nane', 'A'], "Unknown option '--nane'."],
  [['x1', '--name'], "Option '--name <value>' argument missing"],
  [['x1', '--name', 'A', '--dry=yes'], "Option '--dry' does not take an argument"],
])('%j is told what is wrong: %s', (words, message) => {
  expect(() => parseCall(command, words)).toThrow(UsageError)
  expect(() => parseCall(command, words)).toThrow(message)
})
