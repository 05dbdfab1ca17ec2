import { randomBytes, X509Certificate } from 'node:crypto'
import { Resolver } from 'node:dns'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import { createOnce } from './lib/create-once.ts'
import { poolSize, serverUrls } from './lib/database-settings.ts'
import { StartupError } from './lib/refuse.ts'
import type { SecretKeys } from './lib/seal.ts'
import { type AddressRange, isLoopback, readRange } from './net/addresses.ts'
import { type MailSettings, readMailFrom, readSmtpUrl } from './net/mail-settings.ts'
import { NameLookups } from './net/name-lookups.ts'
import { readS3Url, type S3Settings } from './net/s3-settings.ts'
import { readTracing } from './telemetry/tracing-settings.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The settings of a process. Null means that a part is not used, or that its default applies. */
export type Config = ReturnType<typeof readConfig>

const projectDir = join(import.meta.dirname, '..', '..')

/** The only reader of the environment. An invalid value throws a StartupError with one line. */
export function readConfig(env: Environment) {
  const databaseUrl = readDatabaseUrl(env, 'DATABASE_URL')
  const embedded = databaseUrl === null
  const host = readHost(env)
  const port = readPort(env, 'PORT', 8080)
  // The default is inside the project, so it does not depend on the current directory of a CLI command.
  const dataDir = env.PARLEY_DATA_DIR ? resolve(env.PARLEY_DATA_DIR) : join(projectDir, 'data')
  const dnsServers = readDnsServers(env)
  const loopback = '127.0.0.0/8,::1/128'
  const publicUrl = readPublicUrl(env, host, port)
  const opening = openedBy(env, host, publicUrl)
  const reachesLoopback = embedded && opening === null
  return Object.freeze({
    host,
    port,
    publicUrl,
    databaseUrl,
    /** PostgreSQL itself, if DATABASE_URL leads to a pooler that shares connections between transactions. */
    databaseDirectUrl: readOtherDatabaseUrl(env, 'PARLEY_DATABASE_DIRECT_URL'),
    /** A standby for the lists, exports and counts of the console. */
    databaseReadUrl: readReplicaUrl(env, 'PARLEY_DATABASE_READ_URL'),
    /** The connections to the database that this process opens at most. */
    databasePool: readNumber(env, 'PARLEY_DATABASE_POOL', poolSize.default, poolSize.min, poolSize.max),
    dataDir,
    role: readChoice(env, 'PARLEY_ROLE', ['all', 'api', 'worker'], 'all'),
    trustProxy: readRanges(env, 'PARLEY_TRUST_PROXY', ''),
    maxConnections: readNumber(env, 'PARLEY_MAX_CONNECTIONS', 10_000, 10, 500_000),
    maxConnectionsPerAddress: readNumber(env, 'PARLEY_MAX_CONNECTIONS_PER_ADDRESS', 1_000, 5, 500_000),
    simulatorPort: readPort(env, 'PARLEY_SIMULATOR_PORT', embedded ? 8090 : 0),
    /**
     * Where webhooks may be delivered. The default for the embedded database includes this machine, over plain HTTP, while
     * only this machine can reach the service.
     */
    targetRules: {
      allowHttp: readAllowHttp(env, reachesLoopback),
      allowRanges: readRanges(env, 'PARLEY_WEBHOOK_ALLOW_CIDRS', reachesLoopback ? loopback : ''),
      resolve: new NameLookups({ servers: dnsServers }).resolve,
    },
    /** Says which setting changed the defaults of `targetRules`. */
    targetNotice: embedded && opening !== null ? targetNotice(env, opening, loopback) : null,
    webhookCa: readCaFile(env),
    /** Name servers for the hosts of webhooks; none for the system's. */
    dnsServers,
    /** Where files are kept outside the database; null if they are not. */
    objectStore: readObjectStore(env),
    retentionDays: readNumber(env, 'PARLEY_RETENTION_DAYS', 30, 1, 3650),
    /** How long the contents of messages are stored; null for as long as the messages. */
    contentRetentionDays: env.PARLEY_CONTENT_RETENTION_DAYS
      ? readNumber(env, 'PARLEY_CONTENT_RETENTION_DAYS', 0, 1, 3650)
      : null,
    mediaBytesPerWorkspace: readNumber(env, 'PARLEY_MEDIA_MB_PER_WORKSPACE', 5_000, 1, 999_999) * 1_000_000,
    /** The version of the Graph API; null for the version that Parley is tested with. */
    graphVersion: readGraphVersion(env),
    /** Null: no emails are sent. */
    mail: readMail(env),
    /** Per client address: requests to sign in, and to use a link. */
    signInRequestsPerMinute: readNumber(env, 'PARLEY_SIGN_IN_RATE', 120, 10, 100_000),
    /** Operators need an authenticator app or a passkey. */
    operatorsNeedTwoFactor: readOperatorTwoFactor(env, embedded) === 'required',
    metricsToken: env.PARLEY_METRICS_TOKEN || null,
    /** Null: no traces are recorded. */
    tracing: readTracing(env, invalid),
    logLevel: readChoice(env, 'LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
    secretKeys: readSecretKeys(env, embedded, dataDir),
  })
}

/** Replaces PORT=0 by the port that was found, and in `publicUrl`. */
export function withPort(config: Config, port: number): Config {
  const unset = config.publicUrl === localUrl(config.host, config.port)
  return Object.freeze({ ...config, port, ...(unset && { publicUrl: localUrl(config.host, port) }) })
}

function invalid(name: string, value: string, advice: string): never {
  // One line, whatever the value is.
  throw new StartupError(`Invalid ${name}: "${value.replace(/\p{Cc}+/gu, ' ')}". ${advice}`)
}

function readNumber(env: Environment, name: string, fallback: number, min: number, max: number): number {
  const text = env[name]
  if (!text) return fallback
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? value : invalid(name, text, `Use a whole number from ${min} to ${max}.`)
}

const readPort = (env: Environment, name: string, fallback: number) => readNumber(env, name, fallback, 0, 65_535)

function readChoice<Choice extends string>(
  env: Environment,
  name: string,
  choices: readonly Choice[],
  fallback: string,
): Choice {
  const text = env[name] || fallback
  return choices.find((choice) => choice === text) ?? invalid(name, text, `Use one of ${choices.join(', ')}.`)
}

function readRanges(env: Environment, name: string, fallback: string): AddressRange[] {
  const text = env[name] ?? fallback
  const parts = text.split(',').map((part) => part.trim())
  return parts.filter(Boolean).map((part) => {
    const range = readRange(part)
    if ('fault' in range) {
      throw new StartupError(
        `Invalid ${name}: "${part}": ${range.fault}. Use IP addresses or CIDR ranges, separated by commas, for example 10.0.0.0/8.`,
      )
    }
    return range
  })
}

function readGraphVersion(env: Environment): string | null {
  const version = env.PARLEY_GRAPH_VERSION || null
  if (version !== null && !/^v\d+\.\d+$/.test(version)) {
    invalid('PARLEY_GRAPH_VERSION', version, 'Use a version of the Graph API such as v25.0.')
  }
  return version
}

function readDnsServers(env: Environment): string[] {
  const servers = (env.PARLEY_DNS_SERVERS ?? '').split(',').flatMap((part) => part.trim() || [])
  try {
    new Resolver().setServers(servers)
    return servers
  } catch {
    const advice = 'Use IP addresses, separated by commas, each with a port if it is not 53: 10.0.0.2,[fd00::2]:5353.'
    return invalid('PARLEY_DNS_SERVERS', servers.join(), advice)
  }
}

/** Which values of target_session_attrs fit, and what to say if it has another one. */
const sessionAttributes = {
  primary: {
    fit: /^(any|read-write|primary)$/,
    advice: 'Parley needs a writable server. Remove target_session_attrs, or set it to read-write.',
  },
  standby: {
    fit: /^(any|read-only|standby|prefer-standby)$/,
    advice: 'it is for a standby. Remove target_session_attrs, or set it to standby.',
  },
}

function readDatabaseUrl(env: Environment, name: string, { fit, advice } = sessionAttributes.primary): string | null {
  const text = env[name]
  if (!text) return null
  try {
    let attribute: string | null = null
    for (const server of serverUrls(text)) {
      // With a Unix socket the host is in `?host=`. A URL with a user must not have an empty host, so one is filled in.
      const url = new URL(server.replace(/@(:\d+)?\//, '@localhost$1/'))
      decodeURIComponent(url.username + url.password + url.pathname)
      if (!/^postgres(ql)?:$/.test(url.protocol)) throw new Error('not PostgreSQL')
      attribute = url.searchParams.get('target_session_attrs')
    }
    if (attribute === null || fit.test(attribute)) return text
  } catch {
    // The value may contain a password, so the message does not repeat it.
    throw new StartupError(
      `Invalid ${name}. Use the form postgresql://user:password@host:5432/database, with special characters percent-encoded. Separate several servers with commas: host1:5432,host2:5432.`,
    )
  }
  throw new StartupError(`Invalid ${name}: ${advice}`)
}

/** Another way to the database in DATABASE_URL. */
function readOtherDatabaseUrl(env: Environment, name: string, attributes = sessionAttributes.primary): string | null {
  const url = readDatabaseUrl(env, name, attributes)
  if (url !== null && !env.DATABASE_URL) throw new StartupError(`${name} is set, but DATABASE_URL is not. Set both.`)
  return url
}

/** One server: a second server could be further behind than the checked one. */
function readReplicaUrl(env: Environment, name: string): string | null {
  const url = readOtherDatabaseUrl(env, name, sessionAttributes.standby)
  if (url === null || serverUrls(url).length === 1) return url
  throw new StartupError(`Invalid ${name}: it names several servers. Use one standby.`)
}

function readObjectStore(env: Environment): S3Settings | null {
  const [name, choice] = ['PARLEY_FILES_URL', 'PARLEY_NEW_FILES']
  const text = env[name]
  const newFiles = readChoice(env, choice, ['database', 's3'], text ? 's3' : 'database')
  if (!text && newFiles === 's3') throw new StartupError(`${choice} is s3, but ${name} is not set. Set both.`)
  if (!text) return null
  const settings = readS3Url(text, env)
  if (!('fault' in settings)) return { ...settings, takesNew: newFiles === 's3' }
  // The value may contain a secret, so the message does not repeat it.
  throw new StartupError(
    `Invalid ${name}: ${settings.fault}. Use the form s3://bucket/prefix?endpoint=https://s3.example.com&region=eu-central-1.`,
  )
}

function readAllowHttp(env: Environment, reachesLoopback: boolean): boolean | 'loopback' {
  if (!env.PARLEY_WEBHOOK_ALLOW_HTTP) return reachesLoopback ? 'loopback' : false
  return readChoice(env, 'PARLEY_WEBHOOK_ALLOW_HTTP', ['true', 'false'], 'false') === 'true'
}

/**
 * The setting that shows that other machines can reach the service, directly or through a proxy. Then a workspace may
 * belong to someone who must not reach the services of this machine through a webhook. Null if there is none.
 */
function openedBy(env: Environment, host: string, publicUrl: string): string | null {
  if (!isLoopback(host)) return `HOST is ${host}`
  if (!isLoopback(new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, '$1'))) return `PUBLIC_URL is ${publicUrl}`
  return env.PARLEY_TRUST_PROXY ? 'PARLEY_TRUST_PROXY is set' : null
}

/** Says that webhooks cannot reach this machine. Null if both settings are set. */
function targetNotice(env: Environment, opening: string, loopback: string): string | null {
  const missing = [
    ...(env.PARLEY_WEBHOOK_ALLOW_CIDRS === undefined
      ? [{ off: 'reach this machine', setting: `PARLEY_WEBHOOK_ALLOW_CIDRS=${loopback}` }]
      : []),
    ...(env.PARLEY_WEBHOOK_ALLOW_HTTP ? [] : [{ off: 'use plain http', setting: 'PARLEY_WEBHOOK_ALLOW_HTTP=true' }]),
  ]
  if (missing.length === 0) return null
  const off = missing.map((each) => each.off).join(' or ')
  return `${opening}, so webhooks cannot ${off}. To allow it, set ${missing.map(({ setting }) => setting).join(' and ')}.`
}

function readMail(env: Environment): MailSettings | null {
  const { PARLEY_SMTP_URL: url, PARLEY_MAIL_FROM: sender } = env
  if (!url && !sender) return null
  if (!url) throw new StartupError('PARLEY_MAIL_FROM is set, but PARLEY_SMTP_URL is not. Set both.')
  // The value may contain a password, so the message does not repeat it.
  const server = readSmtpUrl(url)
  if (!server) {
    throw new StartupError(
      'Invalid PARLEY_SMTP_URL. Use the form smtp://user:password@host:587, or smtps://… for TLS from the start, with special characters percent-encoded.',
    )
  }
  if (!sender) throw new StartupError('PARLEY_SMTP_URL is set, but PARLEY_MAIL_FROM is not. Set both.')
  const from = readMailFrom(sender)
  return from
    ? { ...server, from }
    : invalid('PARLEY_MAIL_FROM', sender, 'Use an email address, or Parley <parley@example.com>.')
}

const readOperatorTwoFactor = (env: Environment, embedded: boolean) =>
  readChoice(env, 'PARLEY_OPERATOR_TWO_FACTOR', ['required', 'optional'], embedded ? 'optional' : 'required')

function readHost(env: Environment): string {
  const text = env.HOST || '127.0.0.1'
  if (isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,252})$/.test(text)) return text
  return invalid('HOST', text, 'Use an IP address or host name of this machine, for example 127.0.0.1, ::1 or 0.0.0.0.')
}

function readPublicUrl(env: Environment, host: string, port: number): string {
  const text = env.PUBLIC_URL
  if (!text) return localUrl(host, port)
  const advice = 'Use a URL without a query, for example https://parley.example.com.'
  if (!URL.canParse(text)) invalid('PUBLIC_URL', text, advice)
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) invalid('PUBLIC_URL', text, advice)
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
  const advice = 'Use the path of a PEM file with at least one certificate'
  try {
    const text = readFileSync(path, 'utf8')
    const certificates = text.match(/-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs) ?? []
    for (const certificate of certificates) new X509Certificate(certificate)
    if (certificates.length > 0) return text
  } catch (error) {
    invalid('PARLEY_WEBHOOK_CA_FILE', path, `${advice} (${(error as Error).message}).`)
  }
  return invalid('PARLEY_WEBHOOK_CA_FILE', path, `${advice} (the file has none).`)
}

/** Returns a function, because generated keys are in the data directory, which may not exist yet. */
function readSecretKeys(env: Environment, embedded: boolean, dataDir: string): () => SecretKeys {
  const text = env.PARLEY_SECRET_KEYS
  if (!text && !embedded) {
    throw new StartupError(
      'PARLEY_SECRET_KEYS is required when DATABASE_URL is set. Set it to "k1:$(openssl rand -base64 32)" once, and keep the value: Parley encrypts stored secrets with it.',
    )
  }
  if (text) {
    const keys = parseSecretKeys(text, 'Invalid PARLEY_SECRET_KEYS.')
    return () => keys
  }
  let keys: SecretKeys | undefined
  return () => {
    const file = join(dataDir, 'secret-keys')
    keys ??= parseSecretKeys(
      createOnce(file, () => `k1:${randomBytes(32).toString('base64')}`),
      `Invalid secret keys in ${file}. Restore the file from your backup.`,
    )
    return keys
  }
}

function parseSecretKeys(text: string, problem: string): SecretKeys {
  const keys = new Map<string, Buffer>()
  for (const part of text.split(',').map((each) => each.trim())) {
    const [, id, base64] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(part) ?? []
    if (!id || !base64 || keys.has(id)) {
      throw new StartupError(
        `${problem} The format is id:key, with 32 bytes in base64 as the key. Separate several with commas, each with its own id.`,
      )
    }
    keys.set(id, Buffer.from(base64, 'base64'))
  }
  return keys
}
