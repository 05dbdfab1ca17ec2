import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../testing/temp-folder.ts'
import { type Environment, readConfig } from './config.ts'
import { StartupError } from './lib/refuse.ts'

const key = `k1:${Buffer.alloc(32, 7).toString('base64')}`
const url = 'postgresql://someone:pass-word@db.example.com/parley'

test('without any settings it listens on localhost and uses the embedded database', () => {
  const config = readConfig({})
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 8080,
    publicUrl: 'http://127.0.0.1:8080',
    databaseUrl: null,
    databaseDirectUrl: null,
    databasePool: 13,
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

test.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])(
  'with HOST=%s and the embedded database webhooks may reach this machine',
  (host) => {
    const { targetRules, targetNotice } = readConfig({ HOST: host })
    expect(targetRules).toMatchObject({ allowHttp: 'loopback', allowRanges: { length: 2 } })
    expect(targetNotice).toBeNull()
  },
)

test.each(['0.0.0.0', '::', '192.168.1.5', 'parley.lan', '127.example.com'])(
  'with HOST=%s webhooks may not reach this machine, and a notice names both settings',
  (host) => {
    const { targetRules, targetNotice } = readConfig({ HOST: host })
    expect(targetRules).toMatchObject({ allowHttp: false, allowRanges: [] })
    expect(targetNotice).toBe(
      `HOST is ${host}, so webhooks cannot reach this machine or use plain http. To allow it, set PARLEY_WEBHOOK_ALLOW_CIDRS=127.0.0.0/8,::1/128 and PARLEY_WEBHOOK_ALLOW_HTTP=true.`,
    )
  },
)

test.each([
  [{ PUBLIC_URL: 'https://parley.example.com' }, 'PUBLIC_URL is https://parley.example.com'],
  [{ PUBLIC_URL: 'http://localhost:8080', PARLEY_TRUST_PROXY: '127.0.0.1/32' }, 'PARLEY_TRUST_PROXY is set'],
])('behind a proxy (%j) webhooks may not reach this machine, although HOST is a loopback address', (env, opening) => {
  const { targetRules, targetNotice } = readConfig(env)
  expect(targetRules).toMatchObject({ allowHttp: false, allowRanges: [] })
  expect(targetNotice).toMatch(`${opening}, so webhooks cannot reach this machine or use plain http.`)
})

test.each(['http://localhost:9000', 'http://[::1]:8080', 'http://127.0.0.1:8080/'])(
  'with PUBLIC_URL=%s webhooks may reach this machine',
  (publicUrl) => {
    expect(readConfig({ PUBLIC_URL: publicUrl })).toMatchObject({
      targetRules: { allowHttp: 'loopback', allowRanges: { length: 2 } },
      targetNotice: null,
    })
  },
)

test('settings of webhook targets apply with any HOST, and the notice names only the missing ones', () => {
  const ranges = { HOST: '0.0.0.0', PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.1' }
  expect(readConfig(ranges)).toMatchObject({
    targetRules: { allowHttp: false, allowRanges: { length: 1 } },
    targetNotice:
      'HOST is 0.0.0.0, so webhooks cannot use plain http. To allow it, set PARLEY_WEBHOOK_ALLOW_HTTP=true.',
  })
  const both = { ...ranges, PARLEY_WEBHOOK_ALLOW_HTTP: 'true' }
  expect(readConfig(both)).toMatchObject({ targetRules: { allowHttp: true }, targetNotice: null })
  expect(readConfig({ HOST: '0.0.0.0', DATABASE_URL: url, PARLEY_SECRET_KEYS: key }).targetNotice).toBeNull()
})

test('operators need two-factor authentication with DATABASE_URL, unless a setting says otherwise', () => {
  const needed = (env: Environment) => readConfig({ PARLEY_SECRET_KEYS: key, ...env }).operatorsNeedTwoFactor
  expect([needed({}), needed({ PARLEY_OPERATOR_TWO_FACTOR: 'required' })]).toEqual([false, true])
  expect(needed({ DATABASE_URL: url })).toBe(true)
  expect(needed({ DATABASE_URL: url, PARLEY_OPERATOR_TWO_FACTOR: 'optional' })).toBe(false)
})

test('with DATABASE_URL the simulator, plain HTTP and private addresses are off by default', () => {
  const config = readConfig({ DATABASE_URL: url, PARLEY_SECRET_KEYS: key })
  expect(config).toMatchObject({ simulatorPort: 0, targetRules: { allowHttp: false, allowRanges: [] } })
})

test('files are in the database unless PARLEY_FILES_URL names a store', () => {
  const credentials = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }
  const stores = (env: Environment) => readConfig({ ...credentials, ...env }).objectStore
  expect([stores({}), stores({ PARLEY_FILES_URL: '' }), stores({ PARLEY_NEW_FILES: 'database' })]).toEqual([
    null,
    null,
    null,
  ])
  const url = { PARLEY_FILES_URL: 's3://bucket/prefix?endpoint=https://s3.example.com&region=eu-central-1' }
  expect(stores(url)).toMatchObject({ bucket: 'bucket', prefix: 'prefix/', region: 'eu-central-1', takesNew: true })
  expect(stores({ ...url, PARLEY_NEW_FILES: 'database' })).toMatchObject({ bucket: 'bucket', takesNew: false })
})

test.each<[string, string, string, Environment?]>([
  ['HOST', 'http://here', 'Invalid HOST: "http://here". Use an IP address or host name of this machine'],
  ['PORT', '80a', 'Invalid PORT: "80a". Use a whole number from 0 to 65535.'],
  ['PORT', '65536', 'Invalid PORT: "65536". Use a whole number from 0 to 65535.'],
  ['PORT', '-1', 'Invalid PORT: "-1". Use a whole number from 0 to 65535.'],
  ['PUBLIC_URL', 'parley.example.com', 'Invalid PUBLIC_URL: "parley.example.com". Use a URL'],
  ['PUBLIC_URL', 'ftp://x', 'Invalid PUBLIC_URL: "ftp://x". Use a URL'],
  ['DATABASE_URL', 'mysql://a:pass-word@b/c', 'Invalid DATABASE_URL. Use the form postgresql://'],
  ['DATABASE_URL', 'postgresql://a:pass-word%@b/c', 'Invalid DATABASE_URL. Use the form postgresql://'],
  ['DATABASE_URL', 'pass-word', 'Invalid DATABASE_URL. Use the form postgresql://'],
  ['DATABASE_URL', 'postgresql://a:pass-word@b:1,c:x/d', 'Invalid DATABASE_URL. Use the form postgresql://'],
  ['DATABASE_URL', 'postgresql://a:pass-word@b:1,c:2/d?target_session_attrs=standby', 'Parley needs a writable server'],
  ['PARLEY_DATABASE_POOL', '6', 'Invalid PARLEY_DATABASE_POOL: "6". Use a whole number from 7 to 500.'],
  ['PARLEY_SECRET_KEYS', 'pass-word', 'Invalid PARLEY_SECRET_KEYS. The format is id:key'],
  ['PARLEY_SECRET_KEYS', `${key},${key}`, 'Invalid PARLEY_SECRET_KEYS. The format is id:key'],
  ['PARLEY_FILES_URL', '/var/pass-word', 'Invalid PARLEY_FILES_URL: it is not an s3:// URL. Use the form s3://'],
  ['PARLEY_FILES_URL', 's3://bucket', 'it needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'],
  ['PARLEY_NEW_FILES', 's3', 'PARLEY_NEW_FILES is s3, but PARLEY_FILES_URL is not set. Set both.'],
  ['PARLEY_NEW_FILES', 'disk', 'Invalid PARLEY_NEW_FILES: "disk". Use one of database, s3.'],
  ['PARLEY_DATABASE_DIRECT_URL', 'pass-word', 'Invalid PARLEY_DATABASE_DIRECT_URL. Use the form postgresql://'],
  ['PARLEY_DATABASE_DIRECT_URL', url, 'PARLEY_DATABASE_DIRECT_URL is set, but DATABASE_URL is not. Set both.'],
  ['PARLEY_DATABASE_READ_URL', 'pass-word', 'Invalid PARLEY_DATABASE_READ_URL. Use the form postgresql://'],
  ['PARLEY_DATABASE_READ_URL', url, 'PARLEY_DATABASE_READ_URL is set, but DATABASE_URL is not. Set both.'],
  [
    'PARLEY_DATABASE_READ_URL',
    'postgresql://a:pass-word@b:1,c:2/d',
    'Invalid PARLEY_DATABASE_READ_URL: it names several servers. Use one standby.',
    { DATABASE_URL: url },
  ],
  [
    'PARLEY_DATABASE_READ_URL',
    `${url}?target_session_attrs=primary`,
    'Invalid PARLEY_DATABASE_READ_URL: it is for a standby. Remove target_session_attrs, or set it to standby.',
    { DATABASE_URL: url },
  ],
  ['PARLEY_SECRET_KEYS', '', 'PARLEY_SECRET_KEYS is required when DATABASE_URL is set', { DATABASE_URL: url }],
  ['PARLEY_OPERATOR_TWO_FACTOR', 'yes', 'Invalid PARLEY_OPERATOR_TWO_FACTOR: "yes". Use one of required, optional.'],
  ['PARLEY_SIGN_IN_RATE', '0', 'Invalid PARLEY_SIGN_IN_RATE: "0". Use a whole number from 10 to 100000.'],
  ['PARLEY_SMTP_URL', 'smtp://mail.example.com', 'PARLEY_SMTP_URL is set, but PARLEY_MAIL_FROM is not. Set both.'],
  ['PARLEY_MAIL_FROM', 'a@example.com', 'PARLEY_MAIL_FROM is set, but PARLEY_SMTP_URL is not. Set both.'],
  ...[
    'pass-word',
    'http://a:pass-word@b',
    'smtp://',
    'smtp://a:pass-word@b/path',
    'smtp://a:pass-word%@b',
    'smtp://a:pass-word@b:99999',
    'smtps://a:pass-word@b?tls=no',
  ].map(
    (value) =>
      ['PARLEY_SMTP_URL', value, 'Invalid PARLEY_SMTP_URL. Use the form smtp://', { PARLEY_MAIL_FROM: 'a@b.c' }] as [
        string,
        string,
        string,
        Environment,
      ],
  ),
  ...['parley', 'a@b, c@d', 'A <a@b> c', 'A\nB <a@b>', '<>'].map(
    (value) =>
      [
        'PARLEY_MAIL_FROM',
        value,
        'Use an email address, or Parley <parley@example.com>.',
        { PARLEY_SMTP_URL: 'smtp://mail.example.com' },
      ] as [string, string, string, Environment],
  ),
  ['PARLEY_ROLE', 'boss', 'Invalid PARLEY_ROLE: "boss". Use one of all, api, worker.'],
  ['PARLEY_TRUST_PROXY', '10.0.0.0/8,proxy', 'Invalid PARLEY_TRUST_PROXY: "proxy": '],
  ['PARLEY_SIMULATOR_PORT', 'off', 'Invalid PARLEY_SIMULATOR_PORT: "off". Use a whole number from 0 to 65535.'],
  ['PARLEY_WEBHOOK_ALLOW_HTTP', 'yes', 'Invalid PARLEY_WEBHOOK_ALLOW_HTTP: "yes". Use one of true, false.'],
  ['PARLEY_WEBHOOK_ALLOW_CIDRS', '10.0.0.0/33', 'Invalid PARLEY_WEBHOOK_ALLOW_CIDRS: "10.0.0.0/33": '],
  [
    'PARLEY_WEBHOOK_CA_FILE',
    '/no/such.pem',
    'Invalid PARLEY_WEBHOOK_CA_FILE: "/no/such.pem". Use the path of a PEM file',
  ],
  ['PARLEY_WEBHOOK_CA_FILE', '/', 'Invalid PARLEY_WEBHOOK_CA_FILE: "/". Use the path of a PEM file'],
  ['PARLEY_WEBHOOK_CA_FILE', import.meta.filename, 'Invalid PARLEY_WEBHOOK_CA_FILE: "'],
  ['PARLEY_DNS_SERVERS', 'dns.example.com', 'Invalid PARLEY_DNS_SERVERS: "dns.example.com". Use IP addresses'],
  ['PARLEY_DNS_SERVERS', '10.0.0.2,10.0.0.3:99999', 'Invalid PARLEY_DNS_SERVERS: "10.0.0.2,10.0.0.3:99999"'],
  ['PARLEY_RETENTION_DAYS', '0', 'Invalid PARLEY_RETENTION_DAYS: "0". Use a whole number from 1 to 3650.'],
  ['PARLEY_GRAPH_VERSION', '25', 'Invalid PARLEY_GRAPH_VERSION: "25". Use a version of the Graph API such as v25.0.'],
  ['LOG_LEVEL', 'loud', 'Invalid LOG_LEVEL: "loud". Use one of trace, debug, info, warn, error, fatal, silent.'],
])('%s=%s is rejected with one line that names the variable', (name, value, line, others = {}) => {
  const read = () => readConfig({ ...others, [name]: value })
  expect(read).toThrow(StartupError)
  expect(read).toThrow(line)
  expect(read).not.toThrow(/\n|pass-word/)
})

test.each([
  ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, secure: false, credentials: null }],
  [
    'smtps://me%40example.com:p%2Fw@mail.example.com',
    {
      host: 'mail.example.com',
      port: 465,
      secure: true,
      credentials: { user: 'me@example.com', password: 'p/w' },
    },
  ],
  ['smtp://[fd00::2]:2525', { host: 'fd00::2', port: 2525 }],
])('PARLEY_SMTP_URL=%s is read', (PARLEY_SMTP_URL, expected) => {
  const read = (PARLEY_MAIL_FROM: string) => readConfig({ PARLEY_SMTP_URL, PARLEY_MAIL_FROM }).mail
  expect(read('a@example.com')).toMatchObject({ ...expected, from: { name: '', address: 'a@example.com' } })
  expect(read('Parley <a@example.com>')?.from).toEqual({ name: 'Parley', address: 'a@example.com' })
  expect(readConfig({}).mail).toBeNull()
})

test('PARLEY_DNS_SERVERS takes addresses with and without a port', () => {
  const PARLEY_DNS_SERVERS = '10.0.0.2, [fd00::2]:5353,fd00::3'
  expect(readConfig({ PARLEY_DNS_SERVERS }).dnsServers).toEqual(['10.0.0.2', '[fd00::2]:5353', 'fd00::3'])
  expect(readConfig({}).dnsServers).toEqual([])
})

test.each([
  'postgres://someone@db.example.com/parley',
  'postgresql://someone:p%40ss@/parley?host=/run/postgresql&port=5433',
  'postgresql://someone@:5433/parley?host=/run/postgresql',
  'postgresql:///parley?host=/run/postgresql',
])('DATABASE_URL=%s is accepted', (text) => {
  expect(readConfig({ DATABASE_URL: text, PARLEY_SECRET_KEYS: key }).databaseUrl).toBe(text)
})

test.each([
  [{ HOST: '::', PORT: '80' }, 'http://localhost:80'],
  [{ HOST: '0.0.0.0' }, 'http://localhost:8080'],
  [{ HOST: '::1' }, 'http://[::1]:8080'],
  [{ PUBLIC_URL: 'https://parley.example.com/' }, 'https://parley.example.com'],
])('with %j the public URL is %s', (env, publicUrl) => {
  expect(readConfig(env).publicUrl).toBe(publicUrl)
})

test('secret keys are generated once, into a file that only its owner can read', () => {
  const dataDir = tempFolder()
  const { secretKeys } = readConfig({ PARLEY_DATA_DIR: dataDir })
  expect(existsSync(join(dataDir, 'secret-keys'))).toBe(false)
  const keys = secretKeys()
  expect([...keys.values()].map((each) => each.length)).toEqual([32])
  expect(statSync(join(dataDir, 'secret-keys')).mode & 0o777).toBe(0o600)
  expect(readConfig({ PARLEY_DATA_DIR: dataDir }).secretKeys()).toEqual(keys)

  writeFileSync(join(dataDir, 'secret-keys'), 'damaged')
  const again = () => readConfig({ PARLEY_DATA_DIR: dataDir }).secretKeys()
  expect(again).toThrow(`Invalid secret keys in ${join(dataDir, 'secret-keys')}. Restore the file from your backup.`)
  expect(readFileSync(join(dataDir, 'secret-keys'), 'utf8')).toBe('damaged')
})
