import { type Call, UsageError } from './command.ts'

export function readTime(option: string, text: string): Date {
  const time = new Date(text)
  if (!Number.isNaN(time.getTime())) return time
  throw new UsageError(`Invalid --${option} "${text}". Enter a time such as 2027-01-31T00:00:00Z.`)
}

/** The values of a repeatable option, which may also be separated by commas. */
export const readList = (given: readonly string[]): string[] =>
  given
    .flatMap((each) => each.split(','))
    .map((each) => each.trim())
    .filter(Boolean)

/** A whole number from 1 to `max`; undefined if the option was not given. */
export function readCount({ option }: Pick<Call, 'option'>, name: string, max: number): number | undefined {
  const text = option(name)
  if (text === undefined) return undefined
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= max) return count
  throw new UsageError(`Invalid --${name} "${text}". Enter a whole number from 1 to ${max}.`)
}

/** The members of a query that were given. */
export const given = <Query extends object>(
  query: Query,
): { [Name in keyof Query]?: Exclude<Query[Name], undefined> } =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as never
