// The service as a process of its own, for tests that need several: says where it listens, and stops when told to.
import { readConfig } from '../src/config.ts'
import { StartupError } from '../src/lib/refuse.ts'
import { startService } from '../src/start.ts'

try {
  const service = await startService({ config: readConfig(process.env) })
  process.once('SIGTERM', async () => {
    await service.stop()
    process.exit(0)
  })
  console.log(`listening ${service.url}`)
} catch (error) {
  console.error(error instanceof StartupError ? error.message : error)
  process.exit(1)
}
