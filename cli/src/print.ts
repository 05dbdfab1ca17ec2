import { once } from 'node:events'

/** Writes to standard output, and waits if the program that reads it is slower. */
export async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}
