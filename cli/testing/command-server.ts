import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { runParley } from './run-parley.ts'

/**
 * Runs the `parley` commands of shells and other programs in this process: one in a process of its own takes several times as long.
 * Each sends its words, its environment and its input here.
 */
export class CommandServer {
  readonly #server = createServer((request, response) => {
    run(request).then(
      ({ code, out, err }) => (code === 0 ? response.end(out) : response.writeHead(500).end(out + err)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** For a shell: replaces ./parley, except for files, whose paths belong to the folder of the shell. */
  shellFunction(): string {
    return `./parley() {
  case " $* " in *' --file '* | *' --out '*) command ./parley "$@"; return ;; esac
  ${this.#send('cat')}
}`
  }

  /** Writes a `parley` command without input, and returns its file. `start` runs another one. */
  writeProgram(folder: string, start: string): string {
    const file = join(folder, 'parley-command')
    const script = `#!/bin/sh
[ "$1" != start ] || exec '${start}' "$@"
printed=$(${this.#send(':')}) && printf '%s\\n' "$printed" && exit
printf '%s\\n' "$printed" >&2
exit 1
`
    writeFileSync(file, script, { mode: 0o755 })
    return file
  }

  #send(input: string): string {
    const { port } = this.#server.address() as AddressInfo
    return `{ printf '%s\\0' "$#" "$@"; env -0; printf '\\0'; ${input}; } |
    command curl -s --fail-with-body --data-binary @- http://127.0.0.1:${port}`
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

async function run(request: IncomingMessage) {
  const [count, ...rest] = String(await buffer(request)).split('\0')
  const words = rest.splice(0, Number(count))
  const [variables, typed] = [rest.slice(0, rest.indexOf('')), rest.slice(rest.indexOf('') + 1)]
  const env = variables.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)])
  return runParley(words, Object.fromEntries(env), typed.join('\0'))
}
