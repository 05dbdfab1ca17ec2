// The service as a process of its own, for tests that need several: says where it listens, and stops when told to.
import { readConfig } from '../src/config.ts'
import { startService } from '../src/start.ts'

const service = await startService({ config: readConfig(process.env) })
process.once('SIGTERM', async () => {
  await service.stop()
  process.exit(0)
})
console.log(`listening ${service.url}`)
