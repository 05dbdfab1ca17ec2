import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const compose = readFileSync(join(import.meta.dirname, '..', 'compose.yaml'), 'utf8')

/** The lines below a key, up to the next line with the same indentation. */
function block(key: string, indent: string): string {
  const lines = compose.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`${indent}${key}`))
  expect(start, key).toBeGreaterThan(-1)
  const end = lines.findIndex((line, index) => index > start && /\S/.test(line) && !line.startsWith(`${indent} `))
  return lines.slice(start + 1, end === -1 ? undefined : end).join('\n')
}

test('the service runs in containers that are read-only and without privileges', () => {
  const service = block('x-parley:', '')
  for (const line of [
    'read_only: true',
    'tmpfs: [/tmp]',
    'cap_drop: [ALL]',
    'security_opt: ["no-new-privileges:true"]',
  ])
    expect(service).toMatch(new RegExp(`^  ${line.replaceAll(/[[\]]/g, '\\$&')}$`, 'm'))
  for (const name of ['api:', 'worker:']) {
    expect(block(name, '  ')).toContain('<<: *parley')
    expect(block(name, '  ')).not.toMatch(/read_only|cap_add|privileged|security_opt|user:/)
  }
})

test('PostgreSQL keeps only the capabilities that its start script needs', () => {
  const postgres = block('postgres:', '  ')
  expect(postgres).toMatch(/^ {4}cap_drop: \[ALL\]$/m)
  expect(postgres).toMatch(/^ {4}cap_add: \[CHOWN, DAC_OVERRIDE, FOWNER, SETGID, SETUID\]$/m)
  expect(postgres).toMatch(/^ {4}security_opt: \["no-new-privileges:true"\]$/m)
  expect(postgres).not.toContain('ports:')
})
