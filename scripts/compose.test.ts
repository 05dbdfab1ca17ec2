import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { readConfig } from '../server/src/config.ts'
import { tempFolder } from '../server/testing/temp-folder.ts'

const read = (name: string) => readFileSync(join(import.meta.dirname, '..', name), 'utf8')
const compose = read('compose.yaml')

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

/** The settings of the service, with these values in place of the variables. */
const settingsWith = (values: Record<string, string | undefined>) =>
  Object.fromEntries(
    [...block('environment: &environment', '  ').matchAll(/^ {4}(\w+): (.+)$/gm)].map(([, name = '', text = '']) => [
      name,
      text.replaceAll(/\$\{(\w+):[-?]([^}]*)\}/g, (_, variable, fallback) => values[variable] || fallback),
    ]),
  )

/** Why a setting is not passed. */
const notPassed: Record<string, string> = {
  HOST: 'set by the image',
  PORT: 'set by the image',
  PARLEY_DATA_DIR: 'set by the image',
  PARLEY_ROLE: 'set for each service',
  PARLEY_SIMULATOR_PORT: 'off',
  PARLEY_WEBHOOK_CA_FILE: 'a file that has to be mounted too',
  PARLEY_DATABASE_DIRECT_URL: 'there is no pooler',
  PARLEY_DATABASE_READ_URL: 'there is no replica',
}

test('every setting can be set in .env', () => {
  const rows =
    read('docs/run/configuration.md')
      .match(/^\| `[A-Z][^|]*\|/gm)
      ?.join() ?? ''
  const aws = read('server/src/net/s3-settings.ts').match(/\bAWS_(?!DEFAULT_)\w+/g) ?? []
  const names = new Set([...(rows.match(/[A-Z][A-Z_]+/g) ?? []), ...aws])
  for (const name of ['PARLEY_FILES_URL', 'AWS_SECRET_ACCESS_KEY']) expect(names).toContain(name)
  expect([...names].filter((name) => !(name in notPassed)).sort()).toEqual(Object.keys(settingsWith({})).sort())
})

test('the commands for .env write it once, readable only by its owner, and the service accepts the values', () => {
  const commands = compose.match(/^# {3}\(umask.*?^# {3}END$/ms)?.[0].replaceAll(/^# {3}/gm, '') ?? ''
  const cwd = tempFolder()
  execFileSync('sh', ['-e', '-c', commands], { cwd })
  expect(statSync(join(cwd, '.env')).mode & 0o777).toBe(0o600)
  const written = readFileSync(join(cwd, '.env'), 'utf8')
  // The keys that encrypt the database must not be lost.
  expect(() => execFileSync('sh', ['-c', commands], { cwd, stdio: 'pipe' })).toThrow(/\.env/)
  expect(readFileSync(join(cwd, '.env'), 'utf8')).toBe(written)
  const values = parseEnv(written)
  expect(values.PARLEY_DB_PASSWORD).toMatch(/^[\da-f]{48}$/)
  const config = readConfig(settingsWith(values))
  expect(config).toMatchObject({ publicUrl: 'https://parley.example.com', metricsToken: values.PARLEY_METRICS_TOKEN })
  expect([...config.secretKeys().keys()]).toEqual(['k1'])
  // Settings that are left out are empty, and have their defaults.
  const { DATABASE_URL, PARLEY_SECRET_KEYS, PARLEY_METRICS_TOKEN, PUBLIC_URL } = settingsWith(values)
  const defaults = readConfig({ DATABASE_URL, PARLEY_SECRET_KEYS, PARLEY_METRICS_TOKEN, PUBLIC_URL })
  expect(JSON.stringify(config)).toBe(JSON.stringify(defaults))
  expect(read('.gitignore').split('\n')).toContain('.env')
})
