import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { until } from '../server/testing/until.ts'

/** A shell that runs commands as a reader would type them. It ends when a command fails. */
export class Terminal {
  readonly #shell
  readonly #closed: Promise<unknown>
  #out = ''
  #err = ''
  #ended = false
  #runs = 0

  constructor(cwd: string, env: Record<string, string>, shell = 'sh') {
    // A separate process group, so that a signal reaches everything that runs in the shell.
    // bash would read the settings of the person, because its input is a socket.
    this.#shell = spawn(shell, [...(shell === 'bash' ? ['--norc'] : []), '-e'], { cwd, env, detached: true })
    this.#shell.stdout.on('data', (chunk) => {
      this.#out += chunk
    })
    this.#shell.stderr.on('data', (chunk) => {
      this.#err += chunk
    })
    // Writing to a shell that has ended after a failed command.
    this.#shell.stdin.on('error', () => {})
    this.#closed = once(this.#shell, 'close').then(() => {
      this.#ended = true
    })
  }

  out(): string {
    return this.#out
  }

  /** All output, for error messages. */
  all(): string {
    return `${this.#out}${this.#err}`
  }

  /** Starts commands that run until they are interrupted. */
  start(commands: string): void {
    // Commands must not read the next commands as their input.
    this.#shell.stdin.write(`{\n${commands}\n} </dev/null\n`)
  }

  /** Runs commands and returns their output. */
  async run(commands: string, timeoutMs = 60_000): Promise<string> {
    const before = this.#out.length
    const mark = `[done ${++this.#runs}]`
    this.start(`${commands}\necho '${mark}'`)
    const end = await until(
      `the end of\n${commands}`,
      () => {
        const at = this.#out.indexOf(mark, before)
        if (at < 0 && this.#ended) throw new Error(`failed:\n${commands}\n${this.all()}`)
        return at >= 0 && at
      },
      timeoutMs,
    )
    return this.#out.slice(before, end)
  }

  hasEnded(): boolean {
    return this.#ended
  }

  /** Sends Ctrl-C and waits until everything has ended. */
  async interrupt(): Promise<void> {
    this.#signal('SIGINT')
    this.#shell.stdin.end()
    const late = setTimeout(() => this.#signal('SIGKILL'), 20_000)
    await this.#closed
    clearTimeout(late)
  }

  #signal(name: NodeJS.Signals): void {
    if (!this.#ended && this.#shell.pid) process.kill(-this.#shell.pid, name)
  }
}
