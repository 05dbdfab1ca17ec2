import { watchNoise } from './noise.ts'
import type { Row, Target } from './table.ts'

/** What was measured of each subject, in the order of the rounds. */
export interface Rounds<Figures> {
  /** Of other programs, during all rounds. */
  noise: number
  of(subject: string): readonly Figures[]
}

/**
 * Measures all subjects in each round, another one first each time, so that a disturbance of the machine and the order
 * affect all of them.
 */
export async function inTurn<Figures>(
  subjects: readonly string[],
  rounds: number,
  measure: (subject: string, round: number) => Promise<Figures>,
): Promise<Rounds<Figures>> {
  const figures = new Map<string, Figures[]>(subjects.map((subject) => [subject, []]))
  const noise = watchNoise()
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < subjects.length; turn++) {
      const subject = subjects[(round + turn) % subjects.length] as string
      figures.get(subject)?.push(await measure(subject, round))
    }
  }
  return { noise: noise(), of: (subject) => figures.get(subject) ?? [] }
}

/** A row of one figure of a subject, compared with the same figure of another subject if there is a `base`. */
export function rowOf<Figures>(
  { noise, of }: Rounds<Figures>,
  pick: (figures: Figures) => number,
  {
    what,
    unit,
    subject,
    base,
    target,
  }: { what: string; unit: string; subject: string; base?: string; target?: Target },
): Row {
  return {
    what,
    unit,
    rounds: of(subject).map(pick),
    ...(base !== undefined && { base: { name: base, rounds: of(base).map(pick) } }),
    ...(target && { target }),
    noise,
  }
}
