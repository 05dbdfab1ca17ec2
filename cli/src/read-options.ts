import { UsageError } from './command.ts'

export function readTime(option: string, text: string): Date {
  const time = new Date(text)
  if (!Number.isNaN(time.getTime())) return time
  throw new UsageError(`Invalid --${option} "${text}". Enter a time such as 2027-01-31T00:00:00Z.`)
}

/** The values of a repeatable option, which may also be separated by commas. */
export const readList = (given: readonly string[]): string[] => given.flatMap((each) => each.split(','))
