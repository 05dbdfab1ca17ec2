import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { testKinds } from './scripts/test-kinds.ts'

const { unit, whole, slow } = testKinds()

/** The slow files first: one that began last would keep a single worker busy at the end. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = new Set(slow.map((file) => join(import.meta.dirname, file)))
    const rank = ({ project, moduleId }: TestSpecification) =>
      project.name === 'unit' ? 2 : isSlow.has(moduleId) ? 0 : 1
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

// The sources run as Node runs them in production, and a worker keeps the modules for its next file: importing the
// service for every file anew would take a third of the time.
const shared = {
  pool: 'forks',
  isolate: false,
  testTimeout: 90_000,
  hookTimeout: 120_000,
  experimental: { viteModuleRunner: false, nodeLoader: false },
} as const

export default defineConfig({
  test: {
    maxWorkers: 2,
    sequence: { sequencer: SlowFirst },
    projects: [
      { test: { ...shared, name: 'unit', include: unit } },
      { test: { ...shared, name: 'whole', include: whole, globalSetup: ['server/testing/global-setup.ts'] } },
    ],
  },
})
