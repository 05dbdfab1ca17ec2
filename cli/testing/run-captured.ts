import { vi } from 'vitest'
import { runCli } from '../src/cli.ts'

/** Runs a command in this process, and returns its exit status and what it printed. */
export async function runCaptured(words: readonly string[], env: Readonly<Record<string, string>>) {
  const lines = { out: '', err: '' }
  const keep = (where: 'out' | 'err') => (line: unknown) => {
    lines[where] += `${line}\n`
  }
  const spies = [
    vi.spyOn(console, 'log').mockImplementation(keep('out')),
    vi.spyOn(console, 'error').mockImplementation(keep('err')),
    // Large documents are written in pieces.
    vi.spyOn(process.stdout, 'write').mockImplementation((piece) => {
      lines.out += String(piece)
      return true
    }),
  ]
  try {
    return { code: await runCli(words, env), ...lines }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}
