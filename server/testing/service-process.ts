// Runs the service in a separate process, for tests that need several. Prints its URL, and stops on SIGTERM.
import { readConfig } from '../src/config.ts'
import { StartupError } from '../src/lib/refuse.ts'
import { startService } from '../src/start.ts'

try {
  const service = await startService({ config: readConfig(process.env) })
  let isStopping = false
  process.on('SIGTERM', async () => {
    if (isStopping) return
    isStopping = true
    await service.stop()
    process.exit(0)
  })
  console.log(`listening ${service.url}`)
} catch (error) {
  console.error(error instanceof StartupError ? error.message : error)
  process.exit(1)
}
