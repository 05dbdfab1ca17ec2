import { splitStatements } from './split-statements.ts'

export interface Migration {
  version: number
  name: string
  text: string
}

/** A migration is a list of steps. CONTRIBUTING.md says how a file marks them. */
export type Step =
  /** Statements that run together in one short transaction. */
  | { kind: 'transaction'; text: string }
  /** Creates or drops an index without blocking writes, which is not possible in a transaction. */
  | { kind: 'concurrently'; text: string; index: string; creates: boolean }
  /** A statement for a part of a table, `ctid >= $1 and ctid < $2`. It runs for all parts until it changes no more rows. */
  | { kind: 'batches'; text: string; table: string }

const marker = /^-- step: (.*)$/m

/** The steps of a migration, in order. Statements before the first marker are a step of their own, in a transaction. */
export function readSteps({ name, text }: Migration): Step[] {
  const [head = '', ...marked] = text.split(marker)
  const steps: Step[] = splitStatements(head).length > 0 ? [{ kind: 'transaction', text: head }] : []
  for (let at = 0; at < marked.length; at += 2) {
    steps.push(readStep(`migrations/${name}`, marked[at]?.trim() ?? '', marked[at + 1] ?? ''))
  }
  // A file that only says something still is a version.
  return steps.length > 0 ? steps : [{ kind: 'transaction', text: '' }]
}

function readStep(file: string, kind: string, text: string): Step {
  if (kind === 'transaction') return { kind, text }
  const [statement = '', ...others] = splitStatements(text)
  if (statement === '' || others.length > 0) throw new Error(`${file}: "step: ${kind}" must have one statement`)
  const [, table] = /^batches of (\w+)$/.exec(kind) ?? []
  if (table) {
    if (!/\bctid >= \$1 and (\w+\.)?ctid < \$2/.test(statement)) {
      throw new Error(`${file}: the statement of "step: ${kind}" must have the condition "ctid >= $1 and ctid < $2"`)
    }
    return { kind: 'batches', text: statement, table }
  }
  if (kind !== 'concurrently') {
    throw new Error(`${file}: unknown "step: ${kind}". Use transaction, concurrently, or batches of <table>.`)
  }
  const [, verb = '', index] =
    /^(create|drop)(?: unique)? index concurrently (?:if (?:not )?exists )?(\w+)/.exec(statement) ?? []
  if (!index)
    throw new Error(`${file}: "step: ${kind}" must be "create index concurrently" or "drop index concurrently"`)
  return { kind, text: statement, index, creates: verb === 'create' }
}

/**
 * The version that a program needs to use the schema from this migration on, if it removes what older programs use:
 * `-- contract: needs 24`. Null if the programs before it can.
 */
export function neededBy({ text }: Migration): number | null {
  const [, needs] = /^-- contract: needs (\d+)$/m.exec(text) ?? []
  return needs === undefined ? null : Number(needs)
}

/** The oldest program that can use the schema after this migration, if it was `before` until then; 0 before the first one. */
export const oldestAfter = (migration: Migration, before: number): number =>
  Math.max(before || migration.version, neededBy(migration) ?? 0)
