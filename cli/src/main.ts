import { type Config, readConfig } from '@parley/server/config'
import { openStore, type Store } from '@parley/server/db/store'
import { systemClock } from '@parley/server/lib/clock'
import { newLogger } from '@parley/server/lib/logger'
import { Refusal, Unfit } from '@parley/server/lib/refuse'
import { type Call, type Command, Misuse } from './command.ts'
import { commands } from './commands.ts'
import { helpFor, helpForOne } from './help.ts'
import { type Parsed, parseCall } from './parse.ts'

process.exitCode = await main(process.argv.slice(2))

async function main(words: readonly string[]): Promise<number> {
  const command = commands.find(({ name }) => words.slice(0, name.split(' ').length).join(' ') === name)
  if (!command) return sayHelp(words)
  if (words.includes('--help') || words.includes('-h')) {
    console.log(helpForOne(command))
    return 0
  }
  try {
    const parsed = parseCall(command, words.slice(command.name.split(' ').length))
    await runCommand(command, parsed, readConfig(process.env))
    return 0
  } catch (error) {
    console.error(explain(error, command))
    return 1
  }
}

async function runCommand(command: Command, parsed: Parsed, config: Config): Promise<void> {
  let store: Promise<Store> | undefined
  const call: Call = {
    args: parsed.args,
    option: (name) => parsed.values[name]?.at(-1),
    options: (name) => parsed.values[name] ?? [],
    flag: (name) => parsed.flags.has(name),
    config,
    clock: systemClock,
    async db() {
      const log = newLogger('silent')
      store ??= openStore(config, { purpose: 'visitor', log, say: (line) => console.error(line) })
      return (await store).db
    },
  }
  try {
    const answer = await command.run(call)
    if (answer) console.log(call.flag('json') ? JSON.stringify(answer.json, null, 2) : answer.lines.join('\n'))
  } finally {
    await (await store?.catch(() => undefined))?.close()
  }
}

function sayHelp(words: readonly string[]): number {
  const asked = words.filter((word) => !word.startsWith('-'))
  if (asked.length === 0 || asked[0] === 'help') {
    console.log(helpFor(commands))
    return 0
  }
  const near = commands.filter(({ name }) => name.split(' ')[0] === asked[0])
  console.error(`There is no command "${asked.slice(0, 2).join(' ')}".\n`)
  console.error(helpFor(near.length > 0 ? near : commands))
  return 1
}

function explain(error: unknown, command: Command): string {
  if (error instanceof Misuse) return `${error.message}\n\n${helpForOne(command)}`
  if (error instanceof Unfit) return error.message
  if (error instanceof Refusal) {
    const faults = error.parts.errors?.map(({ message }) => message) ?? []
    return faults.length > 0 ? faults.join('\n') : error.message
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
