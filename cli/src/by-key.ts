import { type Call, type OptionRule, UsageError } from './command.ts'
import { type Login, readLogin } from './login-file.ts'
import { program } from './program.ts'

const { name, hasDatabase } = program

/** The options of a command that can work with an API key instead of the database. */
export const keyOptions = {
  url: {
    value: 'URL',
    help: `${hasDatabase ? 'Use the API of this service instead of the database' : 'The service'} (or set PARLEY_URL)`,
  },
  key: { value: 'KEY', help: 'API key for it (or set PARLEY_API_KEY, which keeps it out of the list of processes)' },
} satisfies Record<string, OptionRule>

/** `--key` of a command that also takes the ID of a key of the database. */
export const keyOrIdOption = (help: string): OptionRule =>
  hasDatabase
    ? {
        value: 'KEY',
        idOf: 'key',
        help: `API key to use with --url (or set PARLEY_API_KEY), or an ID: ${help}`,
      }
    : keyOptions.key

/** Whether `--key` is an API key, not the ID of one. */
export const isApiKey = (key: string, url: string | undefined): boolean => url !== undefined || key.startsWith('prl_')

/**
 * The service to use with an API key; null if the command works on the database. Its address and its key each come from the
 * option, else from PARLEY_URL and PARLEY_API_KEY, else from what `parley login` stored. The ID of a key is one of the database. So is
 * the service of this data directory, unless an option names it: its database can do more than a key.
 */
export function readService(call: Pick<Call, 'option' | 'env' | 'running'>, takes: 'key' | 'keyOrId' = 'key') {
  const { option } = call
  const [url, key] = [option('url'), option('key')]
  const isId = hasDatabase && takes === 'keyOrId' && key !== undefined && !isApiKey(key, url)
  if (option('workspace') !== undefined) {
    if (url === undefined && (key === undefined || isId)) return null
    throw new UsageError('Pass either --url or --workspace: an API key belongs to one workspace.')
  }
  return isId ? null : withDefaults({ url, key }, call)
}

function withDefaults(
  { url, key }: Partial<Record<keyof Login, string | undefined>>,
  { env, running }: Pick<Call, 'env' | 'running'>,
): Login | null {
  const isGiven = url !== undefined || key !== undefined
  const [envUrl, envKey] = [env.PARLEY_URL, env.PARLEY_API_KEY]
  const stored = (url ?? envUrl) && (key ?? envKey) ? null : readLogin(env)
  const toUse = url ?? (envUrl || stored?.url)
  if (!toUse) {
    if (hasDatabase && !isGiven) return null
    const missing =
      isGiven || envKey
        ? 'PARLEY_URL is not set. Pass --url too'
        : 'PARLEY_URL and PARLEY_API_KEY are not set. Set both'
    throw new UsageError(`${missing}, or run "${name} login" once.`)
  }
  if (!isGiven && isRunningHere(toUse, running())) return null
  // A stored key is for its own service only.
  const keyToUse = key ?? (envKey || (stored?.url === toUse ? stored.key : undefined))
  if (!keyToUse) throw new UsageError(`PARLEY_API_KEY is not set. Pass --key too, or run "${name} login" once.`)
  return { url: toUse, key: keyToUse }
}

function isRunningHere(url: string, running: ReturnType<Call['running']>): boolean {
  if (running === undefined || running === 'stopped') return false
  const without = (text: string) => text.replace(/\/+$/, '').replace('//localhost:', '//127.0.0.1:')
  return [running.url, running.public_url].some((own) => without(own) === without(url))
}
