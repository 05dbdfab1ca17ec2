/** The parts of a Dockerfile that the tests need. */

export interface Instruction {
  name: string
  text: string
}

/** The instructions of each stage, with continued lines joined and comments left out. */
export function readStages(dockerfile: string): Instruction[][] {
  const lines = dockerfile.split('\n').filter((line) => !line.startsWith('#'))
  const joined = lines.join('\n').replaceAll(/\\\n\s*/g, '')
  const instructions = joined
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
      return { name, text }
    })
  const stages: Instruction[][] = []
  for (const each of instructions) {
    if (each.name === 'FROM') stages.push([])
    stages.at(-1)?.push(each)
  }
  return stages
}

export const textsOf = (stage: readonly Instruction[], name: string): string[] =>
  stage.filter((each) => each.name === name).map(({ text }) => text)

/** `ENV A=1 B=2` as an object. */
export const environmentOf = (stage: readonly Instruction[]): Record<string, string> =>
  Object.fromEntries(
    textsOf(stage, 'ENV').flatMap((text) =>
      text.split(/\s+/).map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    ),
  )
