import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useTestServer } from '../../../testing/test-server.ts'
import type { Replica } from '../../db/replica/replica.ts'

const root = join(import.meta.dirname, '..', '..', '..', '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Panel {
  id: number
  type: string
  title: string
  description?: string
  gridPos: { h: number; w: number; x: number; y: number }
  targets?: { expr: string }[]
}
const { panels } = JSON.parse(read('packaging/grafana-dashboard.json')) as { panels: Panel[] }

const server = useTestServer({ replica: { state: { whyLeft: null, behindMs: 0 } } as Replica })

/** The names and types of all metrics, also of those that only a process with a replica has. */
async function scrape(): Promise<Map<string, string>> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  return new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]))
}

/** The metric that a name in a query belongs to: a histogram has three. */
function metricOf(name: string, types: ReadonlyMap<string, string>): string {
  const base = name.replace(/_(bucket|sum|count)$/, '')
  return types.get(base) === 'histogram' ? base : name
}

test('every metric of Parley is on the dashboard and in docs/reference/metrics.md, and the dashboard names no other', async () => {
  const types = await scrape()
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n')
  const used = new Set([...queries.matchAll(/\b(?:parley|process|nodejs)_\w+/g)].map(([name]) => metricOf(name, types)))
  const unknown = [...used].filter((name) => !types.has(name))
  expect(unknown).toEqual([])
  const own = [...types.keys()].filter((name) => name.startsWith('parley_'))
  expect(own.length).toBeGreaterThan(40)
  expect(own.filter((name) => !used.has(name))).toEqual([])
  const documented = [...read('docs/reference/metrics.md').matchAll(/`(parley_\w+)(?:\{[\w,]*\})?`/g)].map(
    ([, name]) => name,
  )
  expect(own.filter((name) => !documented.includes(name))).toEqual([])
  const listed = documented.filter((name) => !types.has(name ?? ''))
  expect(listed, 'docs/reference/metrics.md names metrics that do not exist').toEqual([])
})

test('every panel of the dashboard has a title, a description, queries and a place of its own', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const places = new Set<string>()
  for (const { type, title, description, targets, gridPos } of panels) {
    expect(title.length).toBeGreaterThan(0)
    if (type !== 'row') expect([title, description?.length, targets?.length]).not.toContain(undefined)
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect([title, places.has(`${x} ${y}`)]).toEqual([title, false])
        places.add(`${x} ${y}`)
      }
    }
  }
})

test('the queries of the dashboard have matching brackets and filter by job', () => {
  for (const { title, targets = [] } of panels) {
    for (const { expr } of targets) {
      let depth = 0
      for (const letter of expr) {
        if ('([{'.includes(letter)) depth++
        if (')]}'.includes(letter)) depth--
        expect([title, depth]).not.toEqual([title, -1])
      }
      expect([title, depth]).toEqual([title, 0])
      expect(expr).toContain('{job=~"$job"}')
    }
  }
})
