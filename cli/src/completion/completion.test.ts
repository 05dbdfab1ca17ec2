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

/** What bash offers for a line that was typed up to its end. */
function offers(line: string): string[] {
  const words = line.split(' ')
  const script = `${bashScript(completions)}
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
    COMP_CWORD=${words.length - 1}
    _parley
    printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.split('\n').filter(Boolean)
}

test('bash completes commands, options and arguments', () => {
  const groups = [...new Set(commands.map(({ name }) => groupOf(name)))]
  expect(offers('parley ')).toEqual([...groups, '--help', '--version', '--json'])
  expect(offers('parley work')).toEqual(['workspace'])
  expect(offers('parley workspace s')).toEqual(['suspend'])
  expect(offers('parley --json webhook ro')).toEqual(['rotate'])
  expect(offers('parley key create --sc')).toEqual(['--scope'])
  expect(offers('parley key create --scope messages:send --na')).toEqual(['--name'])
  // After an option that takes a value, no options; if the values are not known, bash offers files.
  expect(offers('parley events --type message.rea')).toEqual(['message.read'])
  expect(offers('parley events --follow --type ')).toHaveLength(eventTypes.length)
  expect(offers('parley user create --role ')).toEqual([...roles])
  expect(offers('parley types --out ')).toEqual([])
  // A flag takes none.
  expect(offers('parley user operator --remove --em')).toEqual(['--email'])
  expect(offers('parley trigger message.re')).toEqual(['message.read', 'message.received'])
  expect(offers('parley completion ')).toEqual(['bash', 'zsh', 'fish', '--json', '--help'])
  expect(offers('parley fly ')).toEqual([])
  for (const { name } of commands) expect(offers(`parley ${name} --jso`)).toEqual(['--json'])
})

test.skipIf(!hasShell('zsh'))('zsh accepts its script, and completes with it', () => {
  const check = `autoload -U compinit; compinit -u -D; ${zshScript(completions)}
    _describe() { print -l -- "\${(@P)2}" }
    _files() { print files }
    words=(parley workspace s); CURRENT=3; _parley
    words=(parley events --type m); CURRENT=4; _parley`
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
  expect(complete('parley events --type message.rea').map((line) => line.split('\t')[0])).toEqual(['message.read'])
  expect(complete('parley trigger message.rea').map((line) => line.split('\t')[0])).toEqual(['message.read'])
})
