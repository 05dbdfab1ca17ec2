import { createInterface } from 'node:readline'
import { readKey } from '@parley/sdk/settings'
import { type Call, type Command, UsageError } from '../command.ts'
import { readLogin } from '../login-file.ts'
import { type Forward, newForward } from '../mcp-forward.ts'
import { program } from '../program.ts'
import { onSignals } from '../signals.ts'

export const commands: readonly Command[] = [
  {
    name: 'mcp',
    details:
      'A Model Context Protocol server for agents that start their servers as programs. It forwards each message to /mcp of the service, with your API key: the scopes of the key decide which tools there are. It prints nothing but the protocol. Without --url and --key, it uses what login stored. An agent that can open a URL does not need it.',
    untilStopped: 'itself',
    options: {
      key: { value: 'KEY', help: 'API key (or set PARLEY_API_KEY, which keeps it out of the list of processes)' },
      url: {
        value: 'URL',
        help: `The service (or set PARLEY_URL${program.hasDatabase ? '; default: the running one, or else PUBLIC_URL' : ''})`,
      },
    },
    examples: ['mcp', 'mcp --url https://parley.example.com'],
    async run(call) {
      const { option, env } = call
      const [givenKey, givenUrl] = [option('key') ?? env.PARLEY_API_KEY, option('url') ?? env.PARLEY_URL]
      // A stored key is for its own service only.
      const stored = givenKey || givenUrl ? null : readLogin(env)
      const key = checkedKey(givenKey || stored?.key)
      const url = mcpUrl(givenUrl || (stored?.url ?? defaultUrl(call)))
      await serve(newForward({ url, key, write: (line) => void process.stdout.write(`${line}\n`) }))
      return undefined
    },
  },
]

function defaultUrl(call: Call): string {
  if (program.hasDatabase) return call.config.publicUrl
  throw new UsageError('Missing --url. Pass it as an option or set PARLEY_URL.')
}

/** Checked first: the error of a header that cannot be sent would contain the key, and reach the agent. */
function checkedKey(key: string | undefined): string {
  if (!key)
    throw new UsageError(
      `Missing --key. Pass it as an option or set PARLEY_API_KEY, or run "${program.name} login" once.`,
    )
  try {
    return readKey(key)
  } catch (error) {
    throw new UsageError(`Invalid --key or PARLEY_API_KEY: ${(error as Error).message}`)
  }
}

/** The service may be below a path of its host. The address of /mcp itself is accepted too. */
function mcpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
    throw new UsageError(
      `Invalid --url "${text}". Enter the address of the service, such as https://parley.example.com.`,
    )
  }
  url.pathname = url.pathname.replace(/(\/mcp)?\/*$/, '/mcp')
  return url
}

/** Forwards each line until the agent closes the input or stops the program. */
async function serve(forward: Forward): Promise<void> {
  const { stdin } = process
  const lines = createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })
  const pending = new Set<Promise<void>>()
  // Even when the agent has closed its end.
  const stopListening = onSignals(() => {
    forward.stop()
    lines.close()
    stdin.destroy()
  })
  for await (const line of lines) {
    if (line.trim() === '') continue
    const work = forward.take(line).finally(() => pending.delete(work))
    pending.add(work)
  }
  await Promise.all(pending)
  stopListening()
}
