import { expect, onTestFinished, test, vi } from 'vitest'
import { printJson, say, sayAside } from './print.ts'

function captured() {
  const lines: unknown[] = []
  for (const name of ['log', 'error'] as const) {
    const spy = vi.spyOn(console, name).mockImplementation((line) => void lines.push(line))
    onTestFinished(() => spy.mockRestore())
  }
  return lines
}

test('only colors, line breaks and tabs reach the terminal as they are', () => {
  const lines = captured()
  say('\u001b[31mred\u001b[39m\ta\nb \u001b[2J \u001b]0;title\u0007 \u009b2J \u001b[8mhidden\r\u007f')
  sayAside('Not found: \u001b[2J')
  expect(lines).toEqual([
    '\u001b[31mred\u001b[39m\ta\nb ^[[2J ^[]0;title^G \\u009b2J ^[[8mhidden ^?',
    'Not found: ^[[2J',
  ])
})

test('JSON has no character that a terminal obeys, and stays the same document', () => {
  const lines = captured()
  const value = { name: 'a\u001b[2J \u009b2J\u007f ü' }
  printJson(value)
  expect(lines[0]).toBe('{"name":"a\\u001b[2J \\u009b2J\\u007f ü"}')
  expect(JSON.parse(String(lines[0]))).toEqual(value)
})
