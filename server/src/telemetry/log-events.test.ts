import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { logEvents } from './log-events.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const known = Object.entries(logEvents).flatMap(([level, events]) => events.map((event) => `${level} ${event}`))

test('docs/reference/logs.md lists every log event with its level and meaning', () => {
  const docs = readFileSync(join(root, 'docs/reference/logs.md'), 'utf8')
  const rows = Array.from(
    docs.matchAll(/^\| `([a-z_]+\.[a-z_]+)` +\| (\w+) +\| \S.*\|$/gm),
    (row) => `${row[2]} ${row[1]}`,
  )
  expect(rows.sort()).toEqual(known.sort())
})

test('each event is logged somewhere at its listed level', () => {
  const files = globSync('server/src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const logged = files.flatMap((file) => eventsIn(readFileSync(join(root, file), 'utf8')))
  expect([...new Set(logged)].sort()).toEqual(known.sort())
})

/** Finds `log.warn({ event: 'sync.failed' … })`, and calls with a variable whose fields contain the event. */
function eventsIn(text: string): string[] {
  return Array.from(text.matchAll(/\blog\.(debug|info|warn|error)\(\s*(\w+,|\{)/g), ({ 1: level, 2: first, index }) => {
    const name = first?.slice(0, -1)
    const start = name ? text.lastIndexOf(`const ${name} = `, index) : index
    const event = /event: '([^']+)'/.exec(text.slice(start))?.[1]
    return `${level} ${event}`
  })
}
