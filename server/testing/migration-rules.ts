import { type Migration, neededBy, readSteps } from '../src/db/migrate/migration-steps.ts'
import { splitStatements } from '../src/db/migrate/split-statements.ts'

/**
 * Finds what a migration does that would stop the service or the processes of the version before. `released` is the
 * schema version of the last release. Rewritten tables are found by a test that applies the migration.
 */
export function findBrokenRules(migration: Migration, released: number): string[] {
  const needs = neededBy(migration)
  const steps = readSteps(migration)
  const everything = splitStatements(migration.text).join(';\n').toLowerCase()
  const isNew = (table: string | undefined) =>
    table !== undefined && new RegExp(`create (unlogged )?table (if not exists )?${table}\\b`).test(everything)
  const found: string[] = []
  if (needs !== null && needs > released) {
    found.push(
      `"contract: needs ${needs}" is not possible before version ${needs} is released; the last release is ${released}`,
    )
  }
  for (const step of steps) {
    if (step.kind !== 'transaction') continue
    const statements = splitStatements(step.text).map((text) => text.toLowerCase())
    for (const statement of statements) {
      const text = statement.replace(/\s+/g, ' ')
      const [, table] = /^alter table (?:if exists )?(?:only )?(\w+)/.exec(text) ?? []
      const rules: [boolean, string][] = [
        [
          /^create (unique )?index\b/.test(text) && !/ on only /.test(text) && !isNew(/ on (\w+)/.exec(text)?.[1]),
          'use "step: concurrently" and "create index concurrently": building an index stops all writes to the table',
        ],
        [
          hasChange(text, isNew) && !hasFewRows(step.text, statement),
          'use "step: batches of <table>", or say "-- few rows: <why>" above the statement',
        ],
        [
          needs === null && /^drop (table|view|type)\b/.test(text),
          'the version before may use it: remove it in a later release, with "contract: needs <version>"',
        ],
        [
          needs === null &&
            table !== undefined &&
            !isNew(table) &&
            (/\bdrop (column )?(?!constraint|default|not null|expression|identity)\w+/.test(text) ||
              /\brename\b/.test(text)),
          'the version before may use the column or table: remove or rename it in a later release, with "contract: needs <version>"',
        ],
        [
          table !== undefined && !isNew(table) && /\bset not null\b/.test(text) && !isChecked(everything, table),
          'first add a check "is not null" as "not valid" and validate it in a step of its own; then "set not null" reads no rows',
        ],
        [
          table !== undefined &&
            !isNew(table) &&
            /\badd (constraint \w+ )?(check|foreign key)\b/.test(text) &&
            !/\bnot valid\b/.test(text),
          'add the constraint as "not valid" and validate it in a step of its own',
        ],
        [
          table !== undefined &&
            !isNew(table) &&
            /\badd (constraint \w+ )?(unique|primary key|exclude)\b/.test(text) &&
            !/\busing index\b/.test(text),
          'build the index concurrently first, then add the constraint "using index"',
        ],
        [
          /\bvalidate constraint\b/.test(text) && statements.length > 1,
          'validate a constraint in a step of its own: it reads the whole table',
        ],
      ]
      for (const [isBroken, advice] of rules) if (isBroken) found.push(`${advice}: ${text.slice(0, 80)}`)
    }
  }
  return found
}

/** Whether a statement changes rows of a table that the migration did not create. */
function hasChange(text: string, isNew: (table: string | undefined) => boolean): boolean {
  // In a function they do not run now; "for update" and "on update" are no changes.
  if (/^(create|alter|comment|grant|revoke)\b/.test(text)) return false
  const changes = text.matchAll(/(?<!\b(?:for|for no key|on) )\b(?:update|delete from|insert into) (?:only )?(\w+)/g)
  const changed = [...changes].filter(
    ([whole, table]) => table !== 'set' && !isNew(table) && !whole.startsWith('insert'),
  )
  return changed.length > 0
}

/** Whether the comment directly above the statement says that there are few rows. */
function hasFewRows(stepText: string, statement: string): boolean {
  const at = stepText.toLowerCase().indexOf(statement.slice(0, 40))
  return /-- few rows: \S.*\n(--.*\n)*\s*$/.test(stepText.slice(0, Math.max(at, 0)))
}

const isChecked = (everything: string, table: string): boolean =>
  new RegExp(`alter table ${table}\\s[^;]*validate constraint`).test(everything)
