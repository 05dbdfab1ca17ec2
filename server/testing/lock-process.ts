// Updates a row in a transaction in a separate process and keeps it open. Prints "locked" once it holds the lock.
import { openDatabase } from '../src/db/db.ts'

const db = openDatabase(JSON.parse(process.env.TEST_CONNECTION ?? '{}'), () => {}, 2)
await db.transaction(async (tx) => {
  await tx.change('update counters set value = value + 1')
  console.log('locked')
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    await tx.rows('select 1')
  }
})
