import type { Config, Environment } from '@parley/server/config'
import type { Database } from '@parley/server/db/db'
import type { Store, StoreOptions } from '@parley/server/db/store'
import type { Clock } from '@parley/server/lib/clock'
import type { RunningService } from './running.ts'

/** The arguments and options of one invocation, and the services a command can use. */
export interface Call {
  args: readonly string[]
  /** The last value of an option, if it was given. */
  option(name: string): string | undefined
  /** Every value of a repeatable option. */
  options(name: string): readonly string[]
  flag(name: string): boolean
  /** For secrets that may come from an environment variable. All settings are in `config`. */
  env: Environment
  config: Config
  clock: Clock
  /**
   * The service of this data directory, if it uses the embedded database; `stopped` if it was killed and could not remove its
   * file.
   */
  running(): RunningService | 'stopped' | undefined
  /** Aborted when a person stops the command, or no one reads its output any more. */
  stopped: AbortSignal
  /**
   * The installation's database, opened on first use, whether or not the service is running. Fails if this
   * program cannot use its schema.
   */
  db(): Promise<Database>
  /** Every command that there is. */
  commands: readonly ListedCommand[]
  /** Like `db`, for commands that migrate the database or accept any schema version. */
  store(schema: StoreOptions['schema']): Promise<Store>
}

/** The output of a command: lines for people, and the same data as one JSON document for `--json`. */
export interface CommandResult {
  lines: readonly string[]
  json: unknown
  /** Exit with status 1 although the command ran to its end, for example because a check failed. */
  failed?: boolean
}

export interface Command {
  /** As typed: `workspace create`. */
  name: string
  /** More sentences, shown below the summary in the command's own help. The summary is in `commands.ts`. */
  details?: string
  /** The last of them, where it can use the database. */
  withDatabase?: string
  /** Names of the positional arguments. Those in brackets are optional. */
  args?: readonly string[]
  /** What the first argument is the ID of. A part of the ID is enough if only one has it. */
  idOf?: IdNoun
  options?: Readonly<Record<string, OptionRule>>
  /** Arguments for example command lines, without `./parley`. */
  examples?: readonly string[]
  /**
   * Runs until `stopped` is aborted; `follow`: only with the option --follow; `itself`: it handles signals itself. All others are
   * ended by a signal.
   */
  untilStopped?: true | 'follow' | 'itself'
  run(call: Call): Promise<CommandResult | undefined>
}

/** A command in the lists of the help. The rest of it is loaded when it is needed: loading all of them takes long. */
export interface ListedCommand {
  /** As typed: `workspace create`. */
  name: string
  /** One short line for lists of commands; no period at the end. */
  summary: string
  load(): Promise<Command>
}

export interface Section {
  title: string
  commands: readonly ListedCommand[]
}

/** The nouns whose IDs may be shortened. */
export type IdNoun = 'workspace' | 'key' | 'webhook' | 'replay' | 'app' | 'connection' | 'event'

export interface OptionRule {
  /** What the value is the ID of. A part of the ID is enough if only one has it. */
  idOf?: IdNoun
  /** Placeholder for the value in the help: `NAME`, `CIDR`. A flag has none. */
  value?: string
  required?: boolean
  /** In the usage although another option can take its place. */
  usual?: boolean
  repeated?: boolean
  /** For a required secret: the environment variable it may be read from instead. `-` reads it from standard input. */
  variable?: string
  help: string
}

/** The command line is wrong. The message is printed together with the command's usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
