import { type Call, type OptionRule, UsageError } from './command.ts'
import { type Login, readLogin } from './login-file.ts'

/** The options of a command that can work with an API key instead of the database. */
export const keyOptions = {
  url: { value: 'URL', help: 'Use the API of this service instead of the database (or set PARLEY_URL)' },
  key: { value: 'KEY', help: 'API key for it (or set PARLEY_API_KEY, which keeps it out of the list of processes)' },
} satisfies Record<string, OptionRule>

/** `--key` of a command that also takes the ID of a key of the database. */
export const keyOrIdOption = (help: string): OptionRule => ({
  value: 'KEY',
  idOf: 'key',
  help: `API key to use with --url (or set PARLEY_API_KEY), or an ID: ${help}`,
})

/** Whether `--key` is an API key, not the ID of one. */
export const isApiKey = (key: string, url: string | undefined): boolean => url !== undefined || key.startsWith('prl_')

/**
 * The service to use with an API key; null if the command works on the database. Options come first, then PARLEY_URL and
 * PARLEY_API_KEY together, then what `parley login` stored. The ID of a key is one of the database.
 */
export function readService({ option, env }: Pick<Call, 'option' | 'env'>, takes: 'key' | 'keyOrId' = 'key') {
  const [url, key] = [option('url'), option('key')]
  const isId = takes === 'keyOrId' && key !== undefined && !isApiKey(key, url)
  if (option('workspace') !== undefined) {
    if (url === undefined && (key === undefined || isId)) return null
    throw new UsageError('Pass either --url or --workspace: an API key belongs to one workspace.')
  }
  return isId ? null : withDefaults({ url, key }, env)
}

function withDefaults({ url, key }: Partial<Record<keyof Login, string | undefined>>, env: Call['env']): Login | null {
  const [envUrl, envKey] = [env.PARLEY_URL, env.PARLEY_API_KEY]
  if (url === undefined && key === undefined) return envUrl && envKey ? { url: envUrl, key: envKey } : readLogin(env)
  const stored = readLogin(env)
  const toUse = url ?? (envUrl || stored?.url)
  if (!toUse) throw new UsageError('PARLEY_URL is not set. Pass --url too, or run "./parley login" once.')
  // A stored key is for its own service only.
  const keyToUse = key ?? (envKey || (stored?.url === toUse ? stored.key : undefined))
  if (!keyToUse) throw new UsageError('PARLEY_API_KEY is not set. Pass --key too, or run "./parley login" once.')
  return { url: toUse, key: keyToUse }
}
