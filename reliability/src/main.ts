// Makes faults happen to real processes and checks what the service promises: `npm run reliability` runs every scenario and
// prints a table, `-- name name` runs some, `-- --list` lists them. docs/project/reliability.md has the table of a run.
import { basename } from 'node:path'
import { runScenario } from './lib/run-scenario.ts'
import { loadScenario, type Outcome, type Scenario, scenarioFiles } from './lib/scenario.ts'

interface Row extends Scenario {
  file: string
}

async function main(args: readonly string[]): Promise<void> {
  const all: Row[] = []
  for (const file of scenarioFiles()) all.push({ ...(await loadScenario(file)), file })
  if (args.includes('--list')) return printList(all)
  const unknown = args.filter((name) => all.every((each) => each.name !== name))
  if (unknown.length > 0) {
    console.error(`There is no scenario ${unknown.join(', ')}. The scenarios are:`)
    printList(all)
    process.exitCode = 1
    return
  }
  await runAll(args.length === 0 ? all : all.filter(({ name }) => args.includes(name)))
}

const printList = (rows: readonly Row[]): void =>
  printTable(
    ['fault', 'wanted'],
    rows.map(({ name, wanted }) => [name, wanted]),
  )

async function runAll(rows: readonly Row[]): Promise<void> {
  const interrupted = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => interrupted.abort(name))
  const { signal } = interrupted
  const outcomes: (Outcome & Row)[] = []
  for (const [index, row] of rows.entries()) {
    if (signal.aborted) break
    const began = performance.now()
    console.log(`${index + 1}/${rows.length} ${row.name}: ${row.wanted}`)
    const say = (line: string) => console.log(`  ${line}`)
    const outcome = await runScenario(row.file, { limitSeconds: row.limitSeconds, say, signal })
    if (signal.aborted) break
    outcomes.push({ ...row, ...outcome })
    console.log(
      `  ${outcome.ok ? 'ok' : 'FAILED'} in ${Math.round((performance.now() - began) / 1000)} s: ${outcome.figure}`,
    )
  }
  console.log()
  printTable(
    ['fault', 'wanted', 'measured', 'ok'],
    outcomes.map(({ name, wanted, figure, ok }) => [name, wanted, figure, ok ? 'yes' : 'NO']),
  )
  if (signal.aborted) console.error(`Stopped by ${signal.reason} in ${basename(rows[outcomes.length]?.file ?? '')}.`)
  process.exitCode = signal.aborted ? 130 : outcomes.every(({ ok }) => ok) ? 0 : 1
}

function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  console.log(line(head))
  console.log(line(widths.map((width) => '-'.repeat(width))))
  for (const row of rows) console.log(line(row))
}

await main(process.argv.slice(2))
