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
  [['x1', '--nane', 'A'], 'Unknown option "--nane". Did you mean --name?'],
  [['x1', '--zzzzzz'], 'Unknown option "--zzzzzz".'],
  [['x1', '--name'], 'Missing value: --name NAME.'],
  [['x1', '--name', '-5 degrees'], 'Missing value: --name NAME. If it begins with a dash, write --name=VALUE.'],
  [['-200', '--name', 'A'], 'A negative number is read as an option. Put the arguments after "--".'],
  [['x1', '--name', 'A', '--dry=yes'], '--dry takes no value.'],
])('%j fails with: %s', (words, message) => {
  expect(() => parseArguments(command, words)).toThrow(UsageError)
  expect(() => parseArguments(command, words)).toThrow(message)
})
