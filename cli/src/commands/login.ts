import { rmSync } from 'node:fs'
import { StartupError } from '@parley/server/lib/refuse'
import { keyOptions } from '../by-key.ts'
import { type Command, type OptionRule, UsageError } from '../command.ts'
import { newClient } from '../key-source.ts'
import { loginFile, readLogin, writeLogin } from '../login-file.ts'
import { program } from '../program.ts'
import { readSecret } from '../read-secret.ts'

const keyRule: OptionRule = {
  ...keyOptions.key,
  help: 'API key',
  variable: 'PARLEY_API_KEY',
}

export const commands: readonly Command[] = [
  {
    name: 'login',
    details:
      'Then listen, send, events, trigger, types, webhook list and mcp use that service with the key, on any machine. It checks the key first, and stores both in ~/.config/parley, for you only.',
    withDatabase: 'Those commands then open no database, except with --workspace.',
    options: {
      url: { value: 'URL', help: 'The service (or set PARLEY_URL)' },
      key: keyRule,
      remove: { help: 'Remove what is stored instead' },
    },
    examples: ['login --url https://parley.example.com --key prl_live_…', 'login --remove'],
    async run(call) {
      const { option, flag, env } = call
      const file = loginFile(env)
      if (file === null) throw new StartupError('HOME is not set, so there is no folder to store it in.')
      if (flag('remove')) {
        if (option('url') ?? option('key')) throw new UsageError('--remove takes no --url and no --key.')
        const { url = null } = readLogin(env) ?? {}
        rmSync(file, { force: true })
        const line = url === null ? 'Nothing was stored.' : `Removed the key for ${url} from ${file}.`
        return { lines: [line], json: { url, file, removed: url !== null } }
      }
      const url = option('url') ?? env.PARLEY_URL
      if (!url) throw new UsageError('Missing --url. Pass it as an option or set PARLEY_URL.')
      const login = { url: url.replace(/\/+$/, ''), key: await readSecret(call, 'key', keyRule) }
      const { account_id, key } = await newClient(login).me()
      writeLogin(file, login)
      return {
        lines: [
          `Logged in to ${login.url} with API key ${key.name}, which has the scopes ${key.scopes.join(', ')}.`,
          `Stored in ${file}. To remove it: ${program.name} login --remove`,
        ],
        json: { url: login.url, file, account_id, key },
      }
    },
  },
]
