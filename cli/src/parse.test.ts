import { expect, test } from 'vitest'
import { type Command, UsageError } from './command.ts'
import { parseArguments } from './parse.ts'

const command: Command = {
  name: 'tag add',
  args: ['ID'],
  options: {
    name: { value: 'NAME', required: true, help: 'Name' },
    tag: { value: 'TAG', repeated: true, help: 'Tag' },
    dry: { help: 'Change nothing' },
  },
  run: async () => undefined,
}

test('parses arguments, options, repeated options and flags', () => {
  expect(parseArguments(command, ['x1', '--name', 'A', '--tag=a', '--tag', 'b', '--dry', '--json'])).toEqual({
    args: ['x1'],
    values: { name: ['A'], tag: ['a', 'b'] },
    flags: new Set(['dry', 'json']),
  })
})

test.each([
  [['--name', 'A'], 'Missing argument: ID.'],
  [['x1'], 'Missing required option: --name NAME.'],
  [['x1', 'x2', '--name', 'A'], 'Unexpected argument: "x2".'],
  [['x1', '--name', 'A', '--name', 'B'], '--name can be given only once.'],
  [['x1', '--nane', 'A'], "Unknown option '--nane'."],
  [['x1', '--name'], "Option '--name <value>' argument missing"],
  [['x1', '--name', 'A', '--dry=yes'], "Option '--dry' does not take an argument"],
])('%j fails with: %s', (words, message) => {
  expect(() => parseArguments(command, words)).toThrow(UsageError)
  expect(() => parseArguments(command, words)).toThrow(message)
})
