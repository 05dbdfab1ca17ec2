import { delimiter, join } from 'node:path'
import { childEnv } from '../server/testing/child-env.ts'
import { until } from '../server/testing/until.ts'
import { freePort } from '../testing/src/free-port.ts'
import { isPrinted, type Quote, type Seen } from './readme.ts'
import { Terminal } from './terminal.ts'

export const root = join(import.meta.dirname, '..')

/** A reader of the documents: has terminals, and free ports in place of those that the documents name. */
export class Reader {
  /** The values that the documents abbreviate. */
  readonly seen: Seen = new Map()
  readonly #dataDir: string
  readonly #ports = new Map<string, string>()
  readonly #terminals: Terminal[] = []

  constructor(dataDir: string) {
    this.#dataDir = dataDir
  }

  async choosePorts(...ports: string[]): Promise<void> {
    for (const port of ports) this.#ports.set(port, String(await freePort()))
  }

  /** The documents use the default ports, which may be in use. */
  here(text: string): string {
    return text.replace(/\b\d{4}\b/g, (port) => this.#ports.get(port) ?? port)
  }

  openTerminal(more: Record<string, string> = {}, { cwd = root, shell = 'sh' } = {}): Terminal {
    const { PATH = '', HOME = '' } = process.env
    // A new clone runs with the Node that is installed on the machine, not with the one of the dependencies.
    const path = PATH.split(delimiter).filter((folder) => !folder.includes(join('node_modules', '.bin')))
    const env = {
      ...childEnv,
      PATH: path.join(delimiter),
      HOME,
      PARLEY_DATA_DIR: this.#dataDir,
      PORT: this.here('8080'),
    }
    const terminal = new Terminal(cwd, { ...env, PARLEY_SIMULATOR_PORT: this.here('8090'), ...more }, shell)
    this.#terminals.push(terminal)
    return terminal
  }

  isPrinted({ isJson, text }: Quote, output: string): boolean {
    return isPrinted({ isJson, text: this.here(text) }, output, this.seen)
  }

  async expectPrinted(terminal: Terminal, quote: Quote | undefined): Promise<void> {
    if (!quote) throw new Error('the documents quote no output here')
    const look = () => this.isPrinted(quote, terminal.out()) || terminal.hasEnded()
    await until('it is printed', look, 60_000).catch(() => {})
    if (!this.isPrinted(quote, terminal.out())) throw notPrinted(quote, terminal.all())
  }

  async close(): Promise<void> {
    for (const terminal of this.#terminals.reverse()) await terminal.interrupt()
  }
}

export const notPrinted = ({ text }: Quote, output: string): Error =>
  new Error(`The documents quote this output:\n\n${text}\nbut the output is:\n\n${output}`)
