// Runs one scenario: `node scenario-process.ts <file>`. Its processes and its folder are removed by run-scenario.ts.
import { type FromScenario, stopPostgresIn } from './run-scenario.ts'
import { loadScenario } from './scenario.ts'

const send = (message: FromScenario) => new Promise<void>((resolve) => process.send?.(message, () => resolve()))

// The process that started it was killed. The processes of this scenario have its process group.
process.once('disconnect', async () => {
  await stopPostgresIn(process.env.PARLEY_TEST_FOLDER ?? '')
  process.kill(-process.pid, 'SIGKILL')
})

const scenario = await loadScenario(process.argv[2] ?? '')
try {
  await send({ outcome: await scenario.run((line) => void send({ say: line })) })
} catch (error) {
  console.error(error)
  await send({ outcome: { figure: `failed: ${error instanceof Error ? error.message : String(error)}`, ok: false } })
}
process.exit(0)
