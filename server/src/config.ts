import { randomBytes, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import { type AddressRange, readRange } from './lib/addresses.ts'
import { createOnce } from './lib/create-once.ts'
import { StartupError } from './lib/refuse.ts'
import type { SecretKeys } from './lib/seal.ts'
import type { TargetRules } from './lib/target-guard.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Config {
  host: string
  port: number
  publicUrl: string
  databaseUrl: string | null
  dataDir: string
  role: 'all' | 'api' | 'worker'
  trustProxy: readonly AddressRange[]
  simulatorPort: number
  /** Where webhooks may go. While the database is embedded the default adds this machine, also by plain http. */
  targetRules: TargetRules
  webhookCa: string | null
  retentionDays: number
  metricsToken: string | null
  logLevel: string
  secretKeys: () => SecretKeys
}

export const version: string = (
  JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as { version: string }
).version

const projectDir = join(import.meta.dirname, '..', '..')

/** The environment as one frozen object. The only reader of it; a bad value stops the program with one line. */
export function readConfig(env: Environment): Config {
  const databaseUrl = readDatabaseUrl(env)
  const embedded = databaseUrl === null
  const host = readHost(env)
  const port = readPort(env, 'PORT', 8080)
  // The default is the project's own folder, wherever an operator's command was typed.
  const dataDir = env.PARLEY_DATA_DIR ? resolve(env.PARLEY_DATA_DIR) : join(projectDir, 'data')
  const loopback = '127.0.0.0/8,::1/128'
  return Object.freeze({
    host,
    port,
    publicUrl: readPublicUrl(env, host, port),
    databaseUrl,
    dataDir,
    role: readWord(env, 'PARLEY_ROLE', ['all', 'api', 'worker'], 'all'),
    trustProxy: readRanges(env, 'PARLEY_TRUST_PROXY', ''),
    simulatorPort: readPort(env, 'PARLEY_SIMULATOR_PORT', embedded ? 8090 : 0),
    targetRules: {
      allowHttp: readAllowHttp(env, embedded),
      allowRanges: readRanges(env, 'PARLEY_WEBHOOK_ALLOW_CIDRS', embedded ? loopback : ''),
    },
    webhookCa: readCaFile(env),
    retentionDays: readNumber(env, 'PARLEY_RETENTION_DAYS', 30, 1, 3650),
    metricsToken: env.PARLEY_METRICS_TOKEN || null,
    logLevel: readWord(env, 'LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
    secretKeys: readSecretKeys(env, embedded, dataDir),
  })
}

/** The same with the port that was found for PORT=0, in links as well. */
export function onPort(config: Config, port: number): Config {
  const unset = config.publicUrl === localUrl(config.host, config.port)
  return Object.freeze({ ...config, port, ...(unset && { publicUrl: localUrl(config.host, port) }) })
}

function bad(name: string, value: string, takes: string): never {
  throw new StartupError(`${name} is "${value}", but it takes ${takes}.`)
}

function readNumber(env: Environment, name: string, fallback: number, min: number, max: number): number {
  const text = env[name]
  if (!text) return fallback
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? value : bad(name, text, `a whole number from ${min} to ${max}`)
}

const readPort = (env: Environment, name: string, fallback: number) => readNumber(env, name, fallback, 0, 65_535)

function readWord<Word extends string>(env: Environment, name: string, words: readonly Word[], fallback: string): Word {
  const text = env[name] || fallback
  return words.find((word) => word === text) ?? bad(name, text, `one of ${words.join(', ')}`)
}

function readRanges(env: Environment, name: string, fallback: string): AddressRange[] {
  const text = env[name] ?? fallback
  const parts = text.split(',').map((part) => part.trim())
  return parts.filter(Boolean).map((part) => {
    const range = readRange(part)
    if ('fault' in range) {
      throw new StartupError(
        `${name} has "${part}", but ${range.fault}. It takes addresses and CIDRs with commas between.`,
      )
    }
    return range
  })
}

function readDatabaseUrl(env: Environment): string | null {
  const text = env.DATABASE_URL
  if (!text) return null
  try {
    // A Unix socket goes into `?host=` and leaves the host empty, which a URL with a user may not have.
    const { protocol, username, password, pathname } = new URL(text.replace(/@(:\d+)?\//, '@localhost$1/'))
    decodeURIComponent(username + password + pathname)
    if (/^postgres(ql)?:$/.test(protocol)) return text
  } catch {}
  // The value may hold a password: it is not repeated.
  throw new StartupError(
    'DATABASE_URL takes an address of the form postgresql://user:password@host:5432/database, with special characters percent-encoded.',
  )
}

function readAllowHttp(env: Environment, embedded: boolean): boolean | 'loopback' {
  if (!env.PARLEY_WEBHOOK_ALLOW_HTTP) return embedded ? 'loopback' : false
  return readWord(env, 'PARLEY_WEBHOOK_ALLOW_HTTP', ['true', 'false'], 'false') === 'true'
}

function readHost(env: Environment): string {
  const text = env.HOST || '127.0.0.1'
  if (isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,252})$/.test(text)) return text
  return bad('HOST', text, 'an address or the name of this machine, such as 127.0.0.1, ::1 or 0.0.0.0')
}

function readPublicUrl(env: Environment, host: string, port: number): string {
  const text = env.PUBLIC_URL
  if (!text) return localUrl(host, port)
  const takes = 'an address such as https://parley.example.com'
  if (!URL.canParse(text)) bad('PUBLIC_URL', text, takes)
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) bad('PUBLIC_URL', text, takes)
  return text.replace(/\/+$/, '')
}

const localUrl = (host: string, port: number): string => `http://${reachableHost(host)}:${port}`

function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

function readCaFile(env: Environment): string | null {
  const path = env.PARLEY_WEBHOOK_CA_FILE
  if (!path) return null
  const takes = 'the path of a file of certificates in PEM form'
  try {
    const text = readFileSync(path, 'utf8')
    const certificates = text.match(/-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs) ?? []
    for (const certificate of certificates) new X509Certificate(certificate)
    if (certificates.length > 0) return text
  } catch (error) {
    bad('PARLEY_WEBHOOK_CA_FILE', path, `${takes} (${(error as Error).message})`)
  }
  return bad('PARLEY_WEBHOOK_CA_FILE', path, `${takes} (there is none in it)`)
}

/** Read when first needed: the generated ones lie in the data directory, which may not exist yet. */
function readSecretKeys(env: Environment, embedded: boolean, dataDir: string): () => SecretKeys {
  const text = env.PARLEY_SECRET_KEYS
  if (!text && !embedded) {
    throw new StartupError(
      'PARLEY_SECRET_KEYS is not set, but it must be with DATABASE_URL: it takes id:base64 of 32 random bytes, such as "k1:$(openssl rand -base64 32)".',
    )
  }
  if (text) {
    const keys = parseSecretKeys(text, 'PARLEY_SECRET_KEYS')
    return () => keys
  }
  let keys: SecretKeys | undefined
  return () => {
    const file = join(dataDir, 'secret-keys')
    keys ??= parseSecretKeys(
      createOnce(file, () => `k1:${randomBytes(32).toString('base64')}`),
      file,
    )
    return keys
  }
}

function parseSecretKeys(text: string, where: string): SecretKeys {
  const keys = new Map<string, Buffer>()
  for (const part of text.split(',').map((each) => each.trim())) {
    const [, id, base64] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(part) ?? []
    if (!id || !base64 || keys.has(id)) {
      throw new StartupError(`${where} takes id:base64 of 32 bytes, several with commas between and each id once.`)
    }
    keys.set(id, Buffer.from(base64, 'base64'))
  }
  return keys
}
