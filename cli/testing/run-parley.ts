import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { onTestFinished, vi } from 'vitest'
import { until } from '../../server/testing/until.ts'
import { runCli } from '../src/cli.ts'

type Environment = Readonly<Record<string, string>>

export interface Ended {
  code: number
  out: string
  err: string
}

/** A command in this process. It has its own output, input and signals, so that several can run at the same time. */
export interface RunningCommand {
  out(): string
  err(): string
  /** Types into standard input. */
  type(text: string): void
  /** Ends standard input. */
  endInput(): void
  /** Sends a signal, as Ctrl+C does. */
  kill(signal?: NodeJS.Signals): void
  /** The signals that it listens to. */
  signals(): unknown[]
  ended: Promise<Ended>
  hasEnded(): boolean
}

/** Runs a command in this process, with the input that is typed, and returns its exit status and what it printed. */
export function runParley(words: readonly string[], env: Environment, typed?: string): Promise<Ended> {
  const command = start(words, env)
  if (typed !== undefined) {
    command.type(typed)
    command.endInput()
  }
  return command.ended
}

/** Starts a command in this process. It is stopped if it still runs when the test ends. */
export function startCommand(
  words: readonly string[],
  env: Environment,
  { isTerminal = false }: { isTerminal?: boolean } = {},
): RunningCommand {
  const command = start(words, env, isTerminal)
  onTestFinished(async () => {
    if (!command.hasEnded()) command.kill()
    await command.ended
  })
  return command
}

/** Starts the service in this process, on a free port, and waits until it prints that it is ready. */
export async function serveParley(env: Environment): Promise<RunningCommand & { url: string }> {
  const service = startCommand(['start'], { PORT: '0', PARLEY_SIMULATOR_PORT: '0', ...env })
  const url = await until('the service is ready', () => {
    if (service.hasEnded()) throw new Error(`the service ended instead:\n${service.out()}${service.err()}`)
    return service.out().includes('Press Ctrl+C') && /Ready at (http:\S+)/.exec(service.out())?.[1]
  })
  return { ...service, url }
}

interface Terminal {
  out: string
  err: string
  input: PassThrough
  signals: EventEmitter
  exit(code: number): void
}

/** The terminal of the command that the current code belongs to. */
const current = new AsyncLocalStorage<Terminal>()
let running = 0
let restore = () => {}

function start(words: readonly string[], env: Environment, isTerminal = false): RunningCommand {
  let exit = (_code: number) => {}
  const exited = new Promise<number>((resolve) => {
    exit = resolve
  })
  const input = Object.assign(new PassThrough(), { isTTY: isTerminal })
  const terminal: Terminal = { out: '', err: '', input, signals: new EventEmitter(), exit }
  let hasEnded = false
  if (running++ === 0) restore = divert()
  const ended = current.run(terminal, async () => {
    try {
      const code = await Promise.race([runCli(words, env), exited])
      return { code, out: terminal.out, err: terminal.err }
    } finally {
      hasEnded = true
      if (--running === 0) restore()
    }
  })
  const within = <T>(act: () => T) => current.run(terminal, act)
  return {
    out: () => terminal.out,
    err: () => terminal.err,
    type: (text) => void within(() => terminal.input.write(text)),
    endInput: () => void within(() => terminal.input.end()),
    kill: (signal = 'SIGTERM') => void within(() => terminal.signals.emit(signal, signal)),
    signals: () => terminal.signals.eventNames(),
    ended,
    hasEnded: () => hasEnded,
  }
}

/** Leads what commands print, read and do with signals to their terminals. Everything else in this process stays as it is. */
function divert(): () => void {
  const { log, error } = console
  const { on, off, exit } = process
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin')?.get
  const [write, writeError] = [process.stdout.write, process.stderr.write]
  const print = (where: 'out' | 'err', otherwise: (...args: never[]) => unknown, owner: unknown, end: string) =>
    ((...args: never[]) => {
      const terminal = current.getStore()
      if (!terminal) return otherwise.apply(owner, args)
      terminal[where] += `${args[0]}${end}`
      return true
    }) as never
  const listen = (method: 'on' | 'off', otherwise: typeof on) =>
    ((name: string, listener: (signal: NodeJS.Signals) => void) => {
      const terminal = current.getStore()
      if (!terminal || !name.startsWith('SIG')) return otherwise.call(process, name, listener)
      terminal.signals[method](name, listener)
      return process
    }) as never
  const spies = [
    vi.spyOn(console, 'log').mockImplementation(print('out', log, console, '\n')),
    vi.spyOn(console, 'error').mockImplementation(print('err', error, console, '\n')),
    vi.spyOn(process.stdout, 'write').mockImplementation(print('out', write, process.stdout, '')),
    vi.spyOn(process.stderr, 'write').mockImplementation(print('err', writeError, process.stderr, '')),
    vi.spyOn(process, 'on').mockImplementation(listen('on', on)),
    vi.spyOn(process, 'off').mockImplementation(listen('off', off)),
    vi.spyOn(process, 'stdin', 'get').mockImplementation(
      // A command uses nothing else of it.
      () => (current.getStore()?.input ?? stdin?.call(process)) as typeof process.stdin,
    ),
    vi.spyOn(process, 'exit').mockImplementation(((code: number) => {
      const terminal = current.getStore()
      if (!terminal) return exit(code)
      terminal.exit(code)
    }) as never),
  ]
  return () => {
    for (const spy of spies) spy.mockRestore()
  }
}
