// Runs benchmarks and prints one table of what they measured: `npm run bench -- <name>`; `--help` says more.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { benches } from './benches.ts'
import { describeMachine } from './lib/machine.ts'
import { runBenches, runInProcess } from './lib/run-benches.ts'
import { otherSettings, settings } from './lib/settings.ts'
import { formatResults } from './lib/table.ts'

const usage = `Usage: npm run bench -- <name>… [--file <path>]

Runs benchmarks one after another and prints a table of all results, in Markdown, to the standard output; everything else
goes to the standard error. Ends with 1 if a benchmark fails or its figures are not valid. A missed target is only reported.

  --file <path>  also writes the table to a file
  --list         lists the benchmarks
  --help         prints this

Benchmarks (all runs every one that is available):
`

const padded = (texts: readonly (readonly [string, string])[]): string =>
  texts.map(([name, text]) => `  ${name.padEnd(21)}${text}\n`).join('')

const list = (): string =>
  padded(
    benches.map(({ name, description, missing }) => {
      const why = missing?.() ?? null
      return [name, why === null ? description : `${description} (not available: ${why})`]
    }),
  )

const help = (): string =>
  `${usage}\n${list()}\nEnvironment:\n\n${padded(Object.entries({ ...settings, ...otherSettings }))}`

async function main(args: readonly string[]): Promise<number> {
  const options = { file: { type: 'string' }, list: { type: 'boolean' }, help: { type: 'boolean' } } as const
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  if (values.help || values.list) {
    process.stdout.write(values.help ? help() : list())
    return 0
  }
  const unknown = positionals.filter((name) => name !== 'all' && benches.every((bench) => bench.name !== name))
  if (positionals.length === 0 || unknown.length > 0) {
    if (unknown.length > 0) console.error(`There is no benchmark ${unknown.join(', ')}.\n`)
    console.error(help())
    return 1
  }
  const chosen = benches.filter(({ name, missing }) =>
    positionals.includes('all') ? (missing?.() ?? null) === null : positionals.includes(name),
  )
  return runChosen(
    chosen.map(({ name }) => name),
    values.file,
  )
}

async function runChosen(names: readonly string[], file: string | undefined): Promise<number> {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort(signal))
  const say = (line: string) => console.error(line)
  const results = await runBenches(names, { run: runInProcess, say, signal: interrupted.signal })
  const text = formatResults(results, describeMachine())
  process.stdout.write(text)
  if (file !== undefined) writeFileSync(file, text)
  if (interrupted.signal.aborted) return 130
  return results.every(({ faults }) => faults.length === 0) ? 0 : 1
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  // An option that does not exist.
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
