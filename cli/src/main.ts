import { runCli } from './cli.ts'

// Without a listener, a closed pipe (`parley events | head -1`) would end the process with a stack trace.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}
process.exitCode = await runCli(process.argv.slice(2), process.env)
