import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { until } from '../server/testing/until.ts'

/** A shell that is typed into, as somebody does who follows a page. A command that fails ends it. */
export class Terminal {
  readonly #shell
  readonly #closed: Promise<unknown>
  #out = ''
  #err = ''
  #ended = false
  #runs = 0

  constructor(cwd: string, env: Record<string, string>) {
    // A process group of its own: what is pressed in a terminal reaches everything that runs in it.
    this.#shell = spawn('sh', ['-e'], { cwd, env, detached: true })
    this.#shell.stdout.on('data', (chunk) => {
      this.#out += chunk
    })
    this.#shell.stderr.on('data', (chunk) => {
      this.#err += chunk
    })
    // Typed into a shell that a failed command has ended.
    this.#shell.stdin.on('error', () => {})
    this.#closed = once(this.#shell, 'close').then(() => {
      this.#ended = true
    })
  }

  out(): string {
    return this.#out
  }

  /** For whoever wonders what went wrong. */
  all(): string {
    return `${this.#out}${this.#err}`
  }

  /** Types commands that run until they are stopped. */
  start(commands: string): void {
    // Not what is typed next, but nothing, is what a command reads.
    this.#shell.stdin.write(`{\n${commands}\n} </dev/null\n`)
  }

  /** Types commands, waits until they are done, and gives what they printed. */
  async run(commands: string): Promise<string> {
    const before = this.#out.length
    const mark = `[done ${++this.#runs}]`
    this.start(`${commands}\necho '${mark}'`)
    const end = await until(
      `the end of\n${commands}`,
      () => {
        const at = this.#out.indexOf(mark, before)
        if (at < 0 && this.#ended) throw new Error(`this failed:\n${commands}\n${this.all()}`)
        return at >= 0 && at
      },
      60_000,
    )
    return this.#out.slice(before, end)
  }

  hasEnded(): boolean {
    return this.#ended
  }

  /** Ctrl-C, and whatever runs has ended. */
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
