import type { Config } from '@parley/server/config'
import { hasPeople } from '@parley/server/domain/people/people'
import type { Service } from '@parley/server/start'
import type { Simulator } from '@parley/simulator/start'
import { introduce, makeDemo } from './demo.ts'

/** What a person sees once the service runs; on the very first start with the demo workspace and its key. */
export async function welcome(service: Service, simulator: Simulator | undefined, config: Config): Promise<string[]> {
  const address = config.port === 0 ? service.url : config.publicUrl
  const demo = await makeDemo(service, simulator, config, address)
  const troubles = simulator ? await introduce(service, simulator) : []
  const lines = ['', `Ready at ${address}`, `  Console        ${address}/`, `  API reference  ${address}/docs/api`]
  if (simulator) lines.push(`  Handset        ${simulator.url}`)
  if (demo?.trouble) troubles.unshift(`The demo workspace has no senders yet: ${demo.trouble}`)
  if (troubles.length > 0) lines.push('', ...troubles)
  if (!demo) return [...lines, ...((await hasPeople(service.runtime.db)) ? [] : nobodyYet), '']
  return [
    ...lines,
    '',
    'Make your account in the console; the link works once:',
    '',
    `  ${demo.setupUrl}`,
    '',
    'A demo workspace was made, with an API key that is shown this once:',
    '',
    `  ${demo.secret}`,
    '',
    'Try it:',
    '',
    `  curl -H "Authorization: Bearer ${demo.secret}" ${address}/v1/me`,
    ...(simulator ? [`  curl -H "Authorization: Bearer ${demo.secret}" ${address}/v1/templates`] : []),
    '',
  ]
}

const nobodyYet = ['', 'Nobody can sign in to the console yet. Make a link: npx parley user operator']
