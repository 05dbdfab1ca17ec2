import { once } from 'node:events'
import { visibleJson, visibleLines } from './visible.ts'

/** Prints lines for people on standard output. */
export const say = (text: string): void => console.log(visibleLines(text))

/** Prints lines for people on standard error: errors, and what happens while standard output has the result. */
export const sayAside = (text: string): void => console.error(visibleLines(text))

/** Prints a JSON document on standard output: in one line, or indented. */
export const printJson = (value: unknown, indent?: number): void =>
  console.log(visibleJson(JSON.stringify(value, null, indent)))

/** Writes a part of a JSON document to standard output, and waits if the program that reads it is slower. */
export async function writeJson(text: string): Promise<void> {
  if (!process.stdout.write(visibleJson(text))) await once(process.stdout, 'drain')
}
