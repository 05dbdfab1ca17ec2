import { newFolder } from '../../../server/testing/data-dir.ts'
import { createWorkspace, postgresOf, runCommand, workspaceNames } from '../lib/npm-start.ts'
import type { Scenario } from '../lib/scenario.ts'

const processes = 10

/** Ten processes create one data directory together, then ten commands use it together. */
export const scenario: Scenario = {
  name: 'concurrent-setup',
  wanted: 'ten processes set up one data directory, and ten commands use it; the last one stops PostgreSQL',
  async run() {
    const dataDir = newFolder()
    const numbers = Array.from({ length: processes }, (_, index) => index)
    const migrated = await Promise.all(numbers.map(() => runCommand(dataDir, ['migrate'])))
    const created = await Promise.all(numbers.map((n) => createWorkspace(dataDir, `team ${n}`)))
    const stored = (await workspaceNames(dataDir)).length
    const isStopped = postgresOf(dataDir) === undefined
    const worked = migrated.filter(({ code }) => code === 0).length
    return {
      figure: `${worked} migrated; ${created.filter(Boolean).length} created, ${stored} stored; PostgreSQL ${isStopped ? 'stopped' : 'still runs'}`,
      ok: worked === processes && created.every(Boolean) && stored === processes && isStopped,
    }
  },
}
