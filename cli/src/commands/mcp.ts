import { stdin, stdout } from 'node:process'
import { createInterface } from 'node:readline'
import { type Command, UsageError } from '../command.ts'
import { type Forward, newForward } from '../mcp-forward.ts'
import { onSignals } from '../signals.ts'

export const commands: readonly Command[] = [
  {
    name: 'mcp',
    details:
      'A Model Context Protocol server for agents that start their servers as programs. It forwards each message to /mcp of the service, with your API key: the scopes of the key decide which tools there are. It prints nothing but the protocol. An agent that can open a URL does not need it.',
    untilStopped: true,
    options: {
      key: { value: 'KEY', help: 'API key (or set PARLEY_API_KEY, which keeps it out of the list of processes)' },
      url: { value: 'URL', help: 'The service (or set PARLEY_URL; default: PUBLIC_URL of this installation)' },
    },
    examples: ['mcp', 'mcp --url https://parley.example.com'],
    async run({ option, env, config }) {
      const key = option('key') ?? env.PARLEY_API_KEY
      if (!key) throw new UsageError('Missing --key. Pass it as an option or set PARLEY_API_KEY.')
      const url = option('url') ?? env.PARLEY_URL ?? config.publicUrl
      if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
        throw new UsageError(
          `Invalid --url "${url}". Enter the address of the service, such as https://parley.example.com.`,
        )
      }
      await serve(newForward({ url: new URL('/mcp', url), key, write: (line) => void stdout.write(`${line}\n`) }))
      return undefined
    },
  },
]

/** Forwards each line until the agent closes the input or stops the program. */
async function serve(forward: Forward): Promise<void> {
  const lines = createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })
  const pending = new Set<Promise<void>>()
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
