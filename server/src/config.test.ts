import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../testing/temp-folder.ts'
import { type Environment, readConfig } from './config.ts'
import { StartupError } from './lib/refuse.ts'

const key = `k1:${Buffer.alloc(32, 7).toString('base64')}`
const url = 'postgresql://someone:pass-word@db.example.com/parley'

test('without a word it is one machine’s service with a database of its own', () => {
  const config = readConfig({})
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 8080,
    publicUrl: 'http://127.0.0.1:8080',
    databaseUrl: null,
    dataDir: join(import.meta.dirname, '..', '..', 'data'),
    role: 'all',
    trustProxy: [],
    simulatorPort: 8090,
    targetRules: { allowHttp: 'loopback' },
    webhookCa: null,
    retentionDays: 30,
    metricsToken: null,
    logLevel: 'info',
  })
  expect(config.targetRules.allowRanges).toHaveLength(2)
  expect(Object.isFrozen(config)).toBe(true)
})

test('with DATABASE_URL nothing is allowed that only a trial needs', () => {
  const config = readConfig({ DATABASE_URL: url, PARLEY_SECRET_KEYS: key })
  expect(config).toMatchObject({ simulatorPort: 0, targetRules: { allowHttp: false, allowRanges: [] } })
})

test.each<[string, string, string, Environment?]>([
  ['HOST', 'http://here', 'HOST is "http://here", but it takes an address or the name of this machine'],
  ['PORT', '80a', 'PORT is "80a", but it takes a whole number from 0 to 65535.'],
  ['PORT', '65536', 'PORT is "65536", but it takes a whole number from 0 to 65535.'],
  ['PORT', '-1', 'PORT is "-1", but it takes a whole number from 0 to 65535.'],
  ['PUBLIC_URL', 'parley.example.com', 'PUBLIC_URL is "parley.example.com", but it takes an address such as'],
  ['PUBLIC_URL', 'ftp://x', 'PUBLIC_URL is "ftp://x", but it takes an address such as'],
  ['DATABASE_URL', 'mysql://a:pass-word@b/c', 'DATABASE_URL takes an address of the form postgresql://'],
  ['DATABASE_URL', 'postgresql://a:pass-word%@b/c', 'DATABASE_URL takes an address of the form postgresql://'],
  ['DATABASE_URL', 'pass-word', 'DATABASE_URL takes an address of the form postgresql://'],
  ['PARLEY_SECRET_KEYS', 'pass-word', 'PARLEY_SECRET_KEYS takes id:base64 of 32 bytes'],
  ['PARLEY_SECRET_KEYS', `${key},${key}`, 'PARLEY_SECRET_KEYS takes id:base64 of 32 bytes'],
  ['PARLEY_SECRET_KEYS', '', 'PARLEY_SECRET_KEYS is not set, but it must be with DATABASE_URL', { DATABASE_URL: url }],
  ['PARLEY_ROLE', 'boss', 'PARLEY_ROLE is "boss", but it takes one of all, api, worker.'],
  ['PARLEY_TRUST_PROXY', '10.0.0.0/8,proxy', 'PARLEY_TRUST_PROXY has "proxy", but '],
  ['PARLEY_SIMULATOR_PORT', 'off', 'PARLEY_SIMULATOR_PORT is "off", but it takes a whole number from 0 to 65535.'],
  ['PARLEY_WEBHOOK_ALLOW_HTTP', 'yes', 'PARLEY_WEBHOOK_ALLOW_HTTP is "yes", but it takes one of true, false.'],
  ['PARLEY_WEBHOOK_ALLOW_CIDRS', '10.0.0.0/33', 'PARLEY_WEBHOOK_ALLOW_CIDRS has "10.0.0.0/33", but '],
  [
    'PARLEY_WEBHOOK_CA_FILE',
    '/no/such.pem',
    'PARLEY_WEBHOOK_CA_FILE is "/no/such.pem", but it takes the path of a file',
  ],
  ['PARLEY_WEBHOOK_CA_FILE', '/', 'PARLEY_WEBHOOK_CA_FILE is "/", but it takes the path of a file'],
  ['PARLEY_WEBHOOK_CA_FILE', import.meta.filename, 'PARLEY_WEBHOOK_CA_FILE is "'],
  ['PARLEY_RETENTION_DAYS', '0', 'PARLEY_RETENTION_DAYS is "0", but it takes a whole number from 1 to 3650.'],
  ['LOG_LEVEL', 'loud', 'LOG_LEVEL is "loud", but it takes one of trace, debug, info, warn, error, fatal, silent.'],
])('%s=%s stops the start with one line that names it', (name, value, line, others = {}) => {
  const read = () => readConfig({ ...others, [name]: value })
  expect(read).toThrow(StartupError)
  expect(read).toThrow(line)
  expect(read).not.toThrow(/\n|pass-word/)
})

test.each([
  'postgres://someone@db.example.com/parley',
  'postgresql://someone:p%40ss@/parley?host=/run/postgresql&port=5433',
  'postgresql://someone@:5433/parley?host=/run/postgresql',
  'postgresql:///parley?host=/run/postgresql',
])('%s is a database', (text) => {
  expect(readConfig({ DATABASE_URL: text, PARLEY_SECRET_KEYS: key }).databaseUrl).toBe(text)
})

test.each([
  [{ HOST: '::', PORT: '80' }, 'http://localhost:80'],
  [{ HOST: '0.0.0.0' }, 'http://localhost:8080'],
  [{ HOST: '::1' }, 'http://[::1]:8080'],
  [{ PUBLIC_URL: 'https://parley.example.com/' }, 'https://parley.example.com'],
])('of %j the address is %s', (env, address) => {
  expect(readConfig(env).publicUrl).toBe(address)
})

test('secret keys are generated once, into a file that only we may read', () => {
  const dataDir = tempFolder()
  const { secretKeys } = readConfig({ PARLEY_DATA_DIR: dataDir })
  expect(existsSync(join(dataDir, 'secret-keys'))).toBe(false)
  const keys = secretKeys()
  expect([...keys.values()].map((each) => each.length)).toEqual([32])
  expect(statSync(join(dataDir, 'secret-keys')).mode & 0o777).toBe(0o600)
  expect(readConfig({ PARLEY_DATA_DIR: dataDir }).secretKeys()).toEqual(keys)

  writeFileSync(join(dataDir, 'secret-keys'), 'torn')
  const again = () => readConfig({ PARLEY_DATA_DIR: dataDir }).secretKeys()
  expect(again).toThrow(`${join(dataDir, 'secret-keys')} takes id:base64 of 32 bytes`)
  expect(readFileSync(join(dataDir, 'secret-keys'), 'utf8')).toBe('torn')
})
