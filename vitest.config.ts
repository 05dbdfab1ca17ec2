import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { testKinds } from './scripts/test-kinds.ts'

const { unit, whole, slow } = testKinds()

/** Runs the slow files first. Otherwise a slow file at the end would keep one worker busy while the other is idle. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = new Set(slow.map((file) => join(import.meta.dirname, file)))
    const rank = ({ project, moduleId }: TestSpecification) =>
      project.name === 'unit' ? 2 : isSlow.has(moduleId) ? 0 : 1
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

// Node runs the sources directly, as in production, and a worker keeps its modules for the next file. Importing the
// service again for every file would take a third of the time.
const shared = {
  pool: 'forks' as const,
  isolate: false,
  // A test runs most code once or twice: compiling it for speed, and collecting short-lived objects often, take a tenth of the CPU time.
  execArgv: ['--no-opt', '--max-semi-space-size=64'],
  // In a new clone, writing the cache takes each worker ten seconds when it ends. A cache that exists saves half a second.
  env: { NODE_DISABLE_COMPILE_CACHE: '1' },
  setupFiles: [join(import.meta.dirname, 'server/testing/child-cache.ts')],
  // Long, because a test may have to share a busy machine. A test that waits for a state fails earlier, and says for which.
  testTimeout: 180_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: 60_000 } },
  experimental: { viteModuleRunner: false, nodeLoader: false },
}

export default defineConfig({
  test: {
    maxWorkers: 5,
    sequence: { sequencer: SlowFirst },
    projects: [
      { test: { ...shared, name: 'unit', include: unit } },
      { test: { ...shared, name: 'whole', include: whole, globalSetup: ['server/testing/global-setup.ts'] } },
    ],
  },
})
