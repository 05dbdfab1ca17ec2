import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../server/src/config.ts'
import { root } from '../reader.ts'

/** Whether a block has only settings of the service, and no commands. */
export const isSettings = (text: string): boolean =>
  text.split('\n').every((line) => /^(?:[A-Z_]+=(?:"[^"]*"|'[^']*'|\S*))?\s*(?:#.*)?$/.test(line))

/** Reads the settings as a service that is started with them does. */
export function checkSettings(text: string): string {
  const page = readFileSync(join(root, 'docs/run/configuration.md'), 'utf8')
  const names = [...text.matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name)
  const unknown = names.filter((name) => !name.startsWith('AWS_') && !page.includes(`\`${name}\``))
  if (unknown.length > 0) throw new Error(`docs/run/configuration.md has no ${unknown.join(', ')}`)
  const filled = text.replaceAll('k1:…', `k1:${Buffer.alloc(32).toString('base64')}`).replaceAll('…', 'secret')
  // The values as the shell reads them, without those of this process.
  const output = execFileSync('bash', ['--norc', '-e', '-c', `set -a\n${filled}\nenv -0`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH ?? '' },
  })
  const all = output.split('\0').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])
  const env = Object.fromEntries(all.filter(([name]) => names.includes(name ?? '')))
  const config = readConfig(env)
  if ('PARLEY_SECRET_KEYS' in env) config.secretKeys()
  return ''
}
