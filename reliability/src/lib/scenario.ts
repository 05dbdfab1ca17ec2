import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export interface Outcome {
  /** What was measured, in a few words. */
  figure: string
  ok: boolean
}

/** A fault, and what the service promises to do when it happens. */
export interface Scenario {
  name: string
  /** What the service promises, for the table. */
  wanted: string
  /** Makes the fault happen to services that it starts itself, and ends by itself. */
  run(say: (line: string) => void): Promise<Outcome>
  /** The scenario is stopped and has failed after this time. */
  limitSeconds?: number
}

const folder = join(import.meta.dirname, '..', 'scenarios')

/** In alphabetical order. */
export const scenarioFiles = (): string[] =>
  readdirSync(folder)
    .sort()
    .map((name) => join(folder, name))

export async function loadScenario(file: string): Promise<Scenario> {
  return ((await import(pathToFileURL(file).href)) as { scenario: Scenario }).scenario
}
