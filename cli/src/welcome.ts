import type { Config } from '@parley/server/config'
import { hasPeople } from '@parley/server/domain/people/people'
import type { Service } from '@parley/server/start'
import type { Simulator } from '@parley/simulator/start'
import { createDemo, type Demo, linkSimulator } from './demo.ts'

/** What a start shows once the service is ready. `demo` is null except on the first start, which creates it. */
interface Welcome {
  lines: string[]
  demo: Demo | null
}

export async function welcome(service: Service, simulator: Simulator | undefined, config: Config): Promise<Welcome> {
  const address = addressOf(service, config)
  const demo = await createDemo(service, simulator, config, address)
  const problems = simulator ? await linkSimulator(service, simulator) : []
  if (demo?.problem) problems.unshift(`The demo workspace has no senders yet: ${demo.problem}`)
  const nextSteps = demo ? firstSteps(demo, address, simulator) : await signInHint(service)
  const lines = [
    '',
    `Ready at ${address}`,
    `  Console        ${address}/`,
    `  API reference  ${address}/docs/api`,
    ...(simulator ? [`  Handset        ${simulator.url}`] : []),
    ...(problems.length > 0 ? ['', ...problems] : []),
    ...nextSteps,
    '',
    'Press Ctrl+C to stop.',
    '',
  ]
  return { lines, demo: demo ?? null }
}

/** The address that people use. */
export const addressOf = ({ url }: Service, { port, publicUrl }: Config): string => (port === 0 ? url : publicUrl)

const firstSteps = ({ setupUrl, secret }: Demo, address: string, simulator: Simulator | undefined): string[] => [
  '',
  'Create your console account (this link works once):',
  '',
  `  ${setupUrl}`,
  '',
  'API key of the demo workspace (shown only once):',
  '',
  `  ${secret}`,
  '',
  'Try it:',
  '',
  `  curl -H "Authorization: Bearer ${secret}" ${address}/v1/me`,
  ...(simulator ? ['', 'Next, open the handset, a simulated phone, and send a message to the demo workspace.'] : []),
]

const signInHint = async ({ runtime: { db } }: Service): Promise<string[]> =>
  (await hasPeople(db)) ? [] : ['', 'No one can sign in yet. Create an account with: ./parley user operator']
