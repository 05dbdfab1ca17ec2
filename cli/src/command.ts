import type { Config, Environment } from '@parley/server/config'
import type { Database } from '@parley/server/db/db'
import type { Store, StoreOptions } from '@parley/server/db/store'
import type { Clock } from '@parley/server/lib/clock'

/** What a command was given, and what it may use. */
export interface Call {
  args: readonly string[]
  /** The last value of an option, if it was given. */
  option(name: string): string | undefined
  /** Every value of an option that may be given several times. */
  options(name: string): readonly string[]
  flag(name: string): boolean
  /** For secrets, which may come from there. All settings are in `config`. */
  env: Environment
  config: Config
  clock: Clock
  /**
   * The installation's database, opened on first use, whether or not the service is running. It has to be at this program's
   * version.
   */
  db(): Promise<Database>
  /** The same for commands that migrate, or that look at a database of any version. */
  store(schema: StoreOptions['schema']): Promise<Store>
}

/** What a command has to say: lines for a person, and the same as one JSON document. */
export interface ApiResponse {
  lines: readonly string[]
  json: unknown
  /** It was done, and what it has to say is bad: ends with 1. */
  failed?: boolean
}

export interface Command {
  /** As typed: `workspace create`. */
  name: string
  summary: string
  /** Names of the positional arguments; all are required but those in brackets. */
  args?: readonly string[]
  options?: Readonly<Record<string, OptionRule>>
  /** It runs until it is told to stop, and sees to signals itself. */
  untilStopped?: true
  run(call: Call): Promise<ApiResponse | undefined>
}

export interface OptionRule {
  /** What it takes, for the help: `N`, `CIDR`. A flag takes nothing. */
  value?: string
  required?: boolean
  repeated?: boolean
  /** A secret: it may come from this environment variable instead, or from standard input. */
  variable?: string
  help: string
}

/** The person's wish cannot be understood; told with the command's usage. */
export class UsageError extends Error {
  override readonly name = 'Misuse'
}
