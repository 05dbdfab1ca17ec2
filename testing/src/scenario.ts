import { readFile } from 'node:fs/promises'

/** A recorded conversation: `parley phone record`, or "Save as scenario" on the handset. */
export interface Scenario {
  version: 1
  /** Texts were replaced when it was recorded, so those of your business are not compared. */
  redacted?: boolean
  steps: (PersonStep | BusinessStep)[]
}

interface Step {
  /** A name, for the `message` and `replyTo` of later steps. */
  id?: string
  /** Time since the step before. */
  after_ms?: number
}

export interface PersonStep extends Step {
  from: 'person'
  /** An action of the simulator, such as `say`, `tap` or `fillForm`. */
  action: string
  input?: Record<string, unknown>
}

export interface BusinessStep extends Step {
  from: 'business'
  expect: { type?: string; text?: string }
}

export async function readScenario(given: string | Scenario): Promise<Scenario> {
  const [name, scenario] = typeof given === 'string' ? [`"${given}"`, await readJson(given)] : ['The scenario', given]
  if (!isScenario(scenario)) {
    throw new TypeError(
      `${name} is not a scenario. It needs "version": 1 and "steps", each from the "person" with an "action" or from the "business" with "expect".`,
    )
  }
  return scenario
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8')
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function isScenario(value: unknown): value is Scenario {
  const { version, steps } = (value ?? {}) as { version?: unknown; steps?: unknown }
  return version === 1 && Array.isArray(steps) && steps.every(isStep)
}

function isStep(value: unknown): boolean {
  const { from, action, expect } = (value ?? {}) as Record<string, unknown>
  return from === 'person'
    ? typeof action === 'string'
    : from === 'business' && typeof expect === 'object' && expect !== null
}
