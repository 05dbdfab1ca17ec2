import { spawnSync } from 'node:child_process'
import { roles } from '@parley/contract/console/permissions'
import { eventTypes } from '@parley/contract/events'
import { expect, test } from 'vitest'
import { commands } from '../commands.ts'
import { groupOf } from '../help.ts'
import { readCompletions } from './completions.ts'
import { bashScript, fishScript, zshScript } from './scripts.ts'

const completions = await readCompletions(commands)
const hasShell = (shell: string) => spawnSync(shell, ['--version']).status === 0

/** What bash offers for each line that was typed up to its end. */
function offers(...lines: string[]): string[][] {
  const asked = lines.map((line) => {
    const words = line.split(' ')
    return `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
      COMP_CWORD=${words.length - 1}
      COMPREPLY=()
      _parley
      echo "\${COMPREPLY[@]}"`
  })
  const script = [bashScript(completions), ...asked].join('\n')
  const { stdout, stderr } = spawnSync('bash', ['--norc'], { input: script, encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ').filter(Boolean))
}

test('bash completes commands, options and arguments', () => {
  const groups = [...new Set(commands.map(({ name }) => groupOf(name)))]
  const expected: Record<string, readonly string[]> = {
    'parley ': [...groups, '--help', '--version', '--json'],
    'parley work': ['workspace'],
    'parley workspace s': ['suspend'],
    'parley --json webhook ro': ['rotate'],
    'parley key create --sc': ['--scope'],
    'parley key create --scope messages:send --na': ['--name'],
    // After an option that takes a value, no options; if the values are not known, bash offers files.
    'parley events --event message.rea': ['message.read'],
    'parley events --follow --event ': [...eventTypes],
    'parley user create --role ': [...roles],
    'parley types --out ': [],
    // A flag takes none.
    'parley user operator --remove --em': ['--email'],
    'parley trigger message.re': ['message.read', 'message.received'],
    'parley completion ': ['bash', 'zsh', 'fish', '--json', '--help'],
    'parley fly ': [],
    ...Object.fromEntries(commands.map(({ name }) => [`parley ${name} --jso`, ['--json']])),
  }
  const lines = Object.keys(expected)
  const offered = offers(...lines)
  expect(Object.fromEntries(lines.map((line, index) => [line, offered[index]]))).toEqual(expected)
})

test.skipIf(!hasShell('zsh'))('zsh accepts its script, and completes with it', () => {
  const check = `autoload -U compinit; compinit -u -D; ${zshScript(completions)}
    _describe() { print -l -- "\${(@P)2}" }
    _files() { print files }
    words=(parley workspace s); CURRENT=3; _parley
    words=(parley events --event m); CURRENT=4; _parley`
  const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', check], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(stdout).toContain('suspend:Suspend a workspace\n')
  expect(stdout).toContain(`${eventTypes.join('\n')}\n`)
  expect(stdout).not.toContain('--after')
})

test.skipIf(!hasShell('fish'))('fish completes with its script', () => {
  const complete = (line: string) => {
    const script = `${fishScript(completions)}\ncomplete -C '${line}'`
    const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' })
    expect(stderr).toBe('')
    return stdout.split('\n').filter(Boolean)
  }
  expect(complete('parley work')).toEqual(['workspace\tCommands for workspace'])
  expect(complete('parley workspace s')).toEqual(['suspend\tSuspend a workspace'])
  expect(complete('parley key create --sc').map((line) => line.split('\t')[0])).toEqual(['--scope'])
  expect(complete('parley events --event message.rea').map((line) => line.split('\t')[0])).toEqual(['message.read'])
  expect(complete('parley trigger message.rea').map((line) => line.split('\t')[0])).toEqual(['message.read'])
})
