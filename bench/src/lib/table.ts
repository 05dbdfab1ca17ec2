/** The results of benchmarks as data, and the only function that prints them. */
import { median, ratiosOf } from './statistics.ts'

export interface Row {
  /** What was measured, under which load: `deliveries, one per request`. */
  what: string
  /** `events/s`, `ms`, `MB`; empty for a count. */
  unit: string
  /** The value of each round. The median counts. */
  rounds: readonly number[]
  /** The same of what it is compared with, measured in the same rounds. */
  base?: { name: string; rounds: readonly number[] }
  /** For the ratio if there is a base, otherwise for the value. */
  target?: Target
  /** The share of the machine's CPU time that other programs used during the run, in percent. */
  noise?: number
}

export type Target = { atLeast: number } | { atMost: number }

interface Latency {
  p50Ms: number
  p99Ms: number
}

/** The latency of one workspace or endpoint next to others, compared with its own when it is alone. */
export const nextToOthers = (what: string, alone: Latency, together: Latency): Row[] => [
  { what: `${what}, p50`, unit: 'ms', rounds: [together.p50Ms], base: { name: 'alone', rounds: [alone.p50Ms] } },
  {
    what: `${what}, p99`,
    unit: 'ms',
    rounds: [together.p99Ms],
    base: { name: 'alone', rounds: [alone.p99Ms] },
    target: { atMost: 2 },
  },
]

export interface Result {
  bench: string
  rows: readonly Row[]
  /** Why the figures are not valid: the benchmark failed, or events were missing or repeated. */
  faults: readonly string[]
}

/** Undefined without a target. */
export function isMet(row: Row): boolean | undefined {
  if (!row.target) return undefined
  const value = median(comparedRounds(row))
  return 'atLeast' in row.target ? value >= row.target.atLeast : value <= row.target.atMost
}

/** The ratios of the rounds, or their values if there is no base. */
const comparedRounds = ({ rounds, base }: Row): readonly number[] => (base ? ratiosOf(rounds, base.rounds) : rounds)

const columns = ['benchmark', 'measured', 'target', 'value', 'compared with', 'ratio', 'rounds', 'noise', 'result']

/** A Markdown table of all rows, below a line about the machine. What is not valid follows it. */
export function formatResults(results: readonly Result[], machine: string): string {
  const lines = results.flatMap(({ bench, rows }) => rows.map((row) => cellsOf(bench, row)))
  const faults = results.flatMap(({ bench, faults }) => faults.map((fault) => `- NOT VALID: ${bench}: ${fault}`))
  return [machine, '', ...formatTable([columns, ...lines]), ...(faults.length > 0 ? ['', ...faults] : []), ''].join(
    '\n',
  )
}

/** Markdown, with aligned columns. The first row is the head. */
export function formatTable(rows: readonly (readonly string[])[]): string[] {
  const [head = [], ...lines] = rows.map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = head.map((_, column) => Math.max(3, ...[head, ...lines].map((cells) => (cells[column] ?? '').length)))
  const format = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`
  return [format(head), format(widths.map((width) => '-'.repeat(width))), ...lines.map(format)]
}

function cellsOf(bench: string, row: Row): string[] {
  const { what, unit, rounds, base, target, noise } = row
  const compared = comparedRounds(row)
  const withUnit = (value: number) => `${formatNumber(value)}${unit === '' ? '' : ` ${unit}`}`
  const met = isMet(row)
  return [
    bench,
    what,
    target ? formatTarget(target, base ? '' : unit) : '',
    withUnit(median(rounds)),
    base ? `${base.name}: ${withUnit(median(base.rounds))}` : '',
    base ? formatNumber(median(compared)) : '',
    compared.length > 1 ? `${formatNumber(Math.min(...compared))} to ${formatNumber(Math.max(...compared))}` : '',
    noise === undefined || Number.isNaN(noise) ? '' : `${formatNumber(Math.round(noise))} %`,
    met === undefined ? '' : met ? 'met' : 'MISSED',
  ]
}

function formatTarget(target: Target, unit: string): string {
  const text =
    'atLeast' in target ? `at least ${formatNumber(target.atLeast)}` : `at most ${formatNumber(target.atMost)}`
  return unit === '' ? text : `${text} ${unit}`
}

/** Three digits are more than two runs agree on. Larger numbers are printed in full. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return 'unknown'
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en-US', { maximumFractionDigits: digits })
}
