/** What a release consists of. A new package is one entry. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'

interface Place {
  root: string
  /** Where the files go. */
  out: string
  version: string
}

export interface Build {
  name: string
  command(place: Place): Command
  /** The command that publishes it. */
  publish?(place: Omit<Place, 'root'>): string
}

export interface Command {
  program: string
  args: string[]
  cwd?: string
}

export const builds: readonly Build[] = [
  {
    name: 'The source archive',
    command: ({ out, version }) => ({
      program: 'git',
      args: ['archive', '--prefix', `parley-${version}/`, '--output', join(out, `parley-${version}.tar.gz`), 'HEAD'],
    }),
  },
  {
    name: 'The TypeScript SDK',
    command: ({ root, out }) => ({ program: 'npm', args: ['pack', '--pack-destination', out], cwd: join(root, 'sdk') }),
    publish: ({ out, version }) => `npm publish ${join(out, `parley-sdk-${version}.tgz`)} --access public`,
  },
  {
    name: 'The Python SDK',
    command: ({ root, out }) => ({ program: 'python3', args: [join(root, 'sdk', 'build', 'python_package.py'), out] }),
    publish: ({ out, version }) => `python3 -m twine upload ${join(out, `parley_sdk-${version}`)}*`,
  },
  {
    name: 'The bill of materials',
    command: ({ root, out, version }) => ({
      program: process.execPath,
      args: [join(root, 'scripts', 'sbom.mjs'), join(out, `parley-${version}.sbom.cdx.json`)],
    }),
  },
]

export function nextSteps(out: string, version: string): string {
  const publish = builds.flatMap(({ publish }) => (publish ? [publish({ out, version })] : []))
  const steps = [
    `git tag -s v${version} -F ${join(out, 'RELEASE_NOTES.md')}`,
    `git push origin v${version}`,
    ...publish,
    `attach the files in ${out} to the release of the tag, with RELEASE_NOTES.md as its text`,
    'raise releasedVersion in server/src/db/migrate/released.ts to the last migration, and commit it',
  ]
  return ['Next, by a person:', ...steps.map((step, index) => `  ${index + 1}. ${step}`)].join('\n')
}

/** Without the settings of an npm script that runs this: npm would take them for its own. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_')),
)

export function run({ program, args, cwd }: Command, root: string): Promise<{ code: number; output: string }> {
  const child = spawn(program, args, { cwd: cwd ?? root, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk
    })
  }
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: 1, output: error.message }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}
