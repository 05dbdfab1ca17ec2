import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: ['server/testing/global-setup.ts'],
    include: ['{contract,sdk,simulator,server,console,cli,bench,examples,scripts,e2e}/**/*.test.ts', '*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 90_000,
    hookTimeout: 120_000,
  },
})
