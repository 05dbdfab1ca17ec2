import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CommandServer } from '../../cli/testing/command-server.ts'
import { type DocsBlock, isOutput } from '../../scripts/docs-blocks.ts'
import { until } from '../../server/testing/until.ts'
import { notPrinted, type Reader, root } from '../reader.ts'
import { fillIn, quoteOf } from '../readme.ts'
import type { Terminal } from '../terminal.ts'
import { type OtherBlocks, runOther } from './other-blocks.ts'
import type { Receiver } from './receiver.ts'
import { checkSettings, isSettings } from './settings.ts'

export interface PageOptions extends OtherBlocks {
  reader: Reader
  /** A clone of the repository, in which a reader works. */
  clone: string
  env: Record<string, string>
  commands: CommandServer
  /** Listens on the port of the receivers in the documents, while none of them runs. */
  receiver: Receiver
  /** Makes something happen in the workspace, so that commands that wait for events print one. */
  poke(): Promise<void>
}

/** Values that a command printed before, on the same page. */
const printedValues: Record<string, RegExp> = {
  'prl_live_…': /\bprl_live_\w+/g,
  REPLAY_ID: /(?<=Started replay )rpl_[\da-f-]{36}/g,
  WORKSPACE_ID: /(?<=Created workspace .*\()[^)]+/g,
}

/** Commands that run until they are stopped: servers that the rest of the page needs, and others that print what happens. */
const server = /simulator\/src\/main\.ts/
const endless = /--follow\b|parley listen|curl -N|receiver\.ts|\.listen\(|serve_forever|events\.stream\(/

/** Those that receive the deliveries of the webhook. */
const receives = /receiver\.ts|\.listen\(|serve_forever/

/** One request that changes nothing. */
const readsOnly = /^curl (?!.* -[dFX] ).*\n$/

/** What a command asks for. */
const answers: [RegExp, string][] = [[/parley person erase/, '491701234567']]

/** Reads a page from top to bottom, in one shell, and runs each block. */
export class Page {
  readonly #options: PageOptions
  readonly #terminal: Terminal
  #output = ''
  /** Settings add to those above them. */
  #settings = ''
  #jobs = 0
  readonly #servers: string[] = []

  constructor(options: PageOptions) {
    this.#options = options
    this.#terminal = options.reader.openTerminal(options.env, { cwd: options.clone, shell: 'bash' })
  }

  /** Runs a block and compares the output with the blocks after it. */
  async run(block: DocsBlock, next: DocsBlock | undefined): Promise<void> {
    const { reader } = this.#options
    const quote = next && isOutput(next) ? quoteOf(next) : undefined
    const isEnough = (printed: string) => quote === undefined || reader.isPrinted(quote, printed)
    let output = await this.#outputOf(block, isEnough)
    // What changes later, such as the status of a message, is asked for again.
    for (const end = Date.now() + 60_000; readsOnly.test(block.text) && !isEnough(output) && Date.now() < end; ) {
      await sleep(500)
      output = await this.#outputOf(block, isEnough)
    }
    if (quote && !isEnough(output)) throw notPrinted(quote, output)
  }

  async begin(): Promise<void> {
    // As npm's npx and curl, but without starting npm, and a response with an error is a failure.
    await this.#terminal.run(`set -m
npx() { local program=$1; shift; "${root}/node_modules/.bin/$program" "$@"; }
curl() { command curl -sS --fail-with-body "$@"; }
${this.#options.commands.shellFunction()}`)
  }

  async end(): Promise<void> {
    for (const pid of this.#servers) await this.#stop(pid)
    await this.#terminal.interrupt()
  }

  async #outputOf(block: DocsBlock, isEnough: (printed: string) => boolean): Promise<string> {
    if (block.language === 'sh' && isSettings(block.text)) {
      this.#settings += block.text
      return checkSettings(this.#settings)
    }
    const commands = this.#commandsOf(block)
    if (!commands) return runOther(block, (text) => this.#fill(text), this.#options)
    let output = ''
    for (const command of commands) output += await this.#runCommand(this.#fill(command), block.text, isEnough)
    return output
  }

  /** The commands that run a block; undefined if it is not for the shell. */
  #commandsOf({ language, text, file, line }: DocsBlock): string[] | undefined {
    if (language === 'sh') return splitCommands(text)
    if (language !== 'ts' && language !== 'python') return undefined
    const name = `${basename(file, '.md').toLowerCase()}-${line}.${language === 'ts' ? 'ts' : 'py'}`
    writeFileSync(join(this.#options.clone, name), this.#fill(text))
    const given = join(root, 'e2e', 'docs')
    const program = language === 'ts' ? `npx node --import ${given}/given.ts` : `python3 ${given}/given.py`
    return [`PARLEY_WEBHOOK_SECRET=$SECRET ${program} ${name}`]
  }

  async #runCommand(command: string, source: string, isEnough: (printed: string) => boolean): Promise<string> {
    const isServer = server.test(command)
    if (!isServer && !endless.test(command) && !(/ (npx node|python3) .*given/.test(command) && endless.test(source)))
      return this.#printed(await this.#terminal.run(withAnswer(command)))
    const { receiver, poke } = this.#options
    const isReceiver = receives.test(command) || receives.test(source)
    if (isReceiver) await receiver.stop()
    const file = join(this.#options.clone, `job-${++this.#jobs}.txt`)
    for (const path of [file, `${file}.err`]) writeFileSync(path, '')
    // A command that is stopped is a process.
    const started = await this.#terminal.run(
      `{ unset -f ./parley; ${command}\n} >${file} 2>${file}.err </dev/null &\necho $!`,
    )
    const pid = started.trim()
    const read = () => readFileSync(file, 'utf8')
    let poked = 0
    try {
      await until(
        `it prints something:\n${command}`,
        async () => {
          if (read() !== '' && isEnough(read())) return true
          if (!isRunning(pid))
            throw new Error(`it has ended:\n${command}\n${read()}${readFileSync(`${file}.err`, 'utf8')}`)
          // Deliveries that fail would disable the webhook.
          if (Date.now() - poked < 1000 || (isReceiver && !(await receiver.isTaken()))) return false
          poked = Date.now()
          await poke()
          return false
        },
        60_000,
      )
    } finally {
      if (isServer) this.#servers.push(pid)
      else if (isRunning(pid)) await this.#stop(pid)
      if (isReceiver) await receiver.start()
    }
    return this.#printed(read())
  }

  async #stop(pid: string): Promise<void> {
    await this.#terminal.run(`kill -INT -- -${pid}; wait ${pid} || true`)
  }

  #printed(output: string): string {
    this.#output += output
    return output
  }

  /** In place of Meta there is the simulated network, and in place of the reader's own installation the service. */
  #local(text: string): string {
    const network = 'http://127.0.0.1:8090'
    return text
      .replaceAll('https://graph.facebook.com', network)
      .replace('parley app create', `parley app create --graph-url ${network}`)
      .replaceAll('https://parley.example.com', this.#options.url)
  }

  #fill(text: string): string {
    const { reader } = this.#options
    for (const [name, pattern] of Object.entries(printedValues)) {
      const last = this.#output.match(pattern)?.at(-1)
      if (last) reader.seen.set(name, last)
    }
    const named = this.#local(text).replace(/\b[A-Z]+(?:_[A-Z]+)*_ID\b/g, (name) => reader.seen.get(name) ?? name)
    return reader.here(fillIn(named, reader.seen))
  }
}

function isRunning(pid: string): boolean {
  try {
    process.kill(Number(pid), 0)
    return true
  } catch {
    return false
  }
}

function withAnswer(command: string): string {
  const answer = answers.find(([asks]) => asks.test(command))?.[1]
  return answer === undefined ? command : `${command} <<< ${answer}`
}

/** Prints lines that the shell accepts as complete, each time with a zero. As the body of a function, they are read but not run. */
const splitter = `command=
while IFS= read -r line; do
  command+=$line$'\\n'
  [[ $line == *\\\\ ]] && continue
  # For a here-document without its end, bash prints only a warning.
  error=$(eval "f() { :
$command}" 2>&1) && [ -z "$error" ] || continue
  printf '%s\\0' "$command"
  command=
done
printf '%s' "$command"`

/** The commands of a block. */
function splitCommands(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 1) return lines
  const { stdout } = spawnSync('bash', ['--norc', '-c', splitter], { input: `${lines.join('\n')}\n`, encoding: 'utf8' })
  return stdout.split('\0').flatMap((command) => command.trimEnd() || [])
}
