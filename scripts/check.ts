// Checks types, lint, format, the OpenAPI document, retired words and sentences of the whole project in parallel.
import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'

const bin = join(import.meta.dirname, '..', 'node_modules', '.bin')

const checks = [
  { name: 'types', command: ['tsc', '--singleThreaded', '--noEmit'] },
  { name: 'types of the console', command: ['tsc', '--singleThreaded', '--noEmit', '-p', 'console'] },
  { name: 'types of the handset', command: ['tsc', '--singleThreaded', '--noEmit', '-p', 'simulator/handset'] },
  { name: 'lint and format', command: ['biome', 'check', '--error-on-warnings'] },
  { name: 'OpenAPI document', command: ['redocly', 'lint', 'docs/openapi.json', '--format', 'stylish'] },
  { name: 'retired words', command: [process.execPath, join(import.meta.dirname, 'retired-words.ts')] },
  { name: 'sentences', command: [process.execPath, join(import.meta.dirname, 'sentences.ts')] },
]

const results = await Promise.all(checks.map(runCheck))
for (const { name, code, output } of results) {
  if (code !== 0) console.log(`${output.trim()}\n`)
  console.log(`${code === 0 ? '✓' : '✗'} ${name}`)
}
process.exitCode = results.every(({ code }) => code === 0) ? 0 : 1

function runCheck({ name, command: [program = '', ...args] }: { name: string; command: string[] }) {
  const child = spawn(resolve(bin, program), args, {
    cwd: join(bin, '..', '..'),
    stdio: ['ignore', 'pipe', 'pipe'],
    // Without them, redocly reports each use and looks for a new version of itself.
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk
    })
  }
  return new Promise<{ name: string; code: number; output: string }>((resolve) => {
    child.on('error', (error) => resolve({ name, code: 1, output: error.message }))
    child.on('close', (code) => resolve({ name, code: code ?? 1, output }))
  })
}
