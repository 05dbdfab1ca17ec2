// Migrates in a separate process, for tests that freeze it.
import { migrate } from '../src/db/migrate/migrate.ts'

const { TEST_CONNECTION = '', TEST_MIGRATIONS = '' } = process.env
try {
  await migrate(JSON.parse(TEST_CONNECTION), JSON.parse(TEST_MIGRATIONS))
} catch (error) {
  console.error((error as Error).message)
  process.exit(1)
}
